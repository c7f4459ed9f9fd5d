"""From a program to the code of a chip: passes, pipelines, code generation, assemblers."""
