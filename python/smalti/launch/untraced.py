# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that torch.compile calls and does not trace, without an import of torch."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, ParamSpec

_P = ParamSpec("_P")


def untraced(reason: str) -> Callable[[Callable[_P, None]], Callable[_P, None]]:
    """A decorator of a function at which torch.compile ends a graph. Torch shows the reason."""

    def decorate(function: Callable[_P, None]) -> Callable[_P, None]:
        # functools.cache would warn in torch.compile.
        disabled: list[Any] = []

        @functools.wraps(function)
        def call(*arguments: _P.args, **named: _P.kwargs) -> None:
            # Torch imports this module when a function is compiled.
            if "torch._dynamo" in sys.modules:
                if not disabled:
                    disabled.append(sys.modules["torch"].compiler.disable(function, reason=reason))
                disabled[0](*arguments, **named)
            else:
                function(*arguments, **named)

        # Torch reads these names when it compiles a caller, and then shows the reason from the first call on.
        vars(call).update(_torchdynamo_disable=True, _torchdynamo_disable_msg=reason)
        return call

    return decorate
