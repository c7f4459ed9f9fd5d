// clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -gline-tables-only -ffile-compilation-dir=. -O2 -S -emit-llvm
// Each block turns its 256 numbers around, through shared memory.
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void
reverse(global float *x, global float *y, uint count) {
  local float slots[256];
  uint thread = __builtin_amdgcn_workitem_id_x();
  uint i = __builtin_amdgcn_workgroup_id_x() * 256 + thread;
  slots[thread] = i < count ? x[i] : 0;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (i < count)
    y[i] = slots[255 - thread];
}
