; Written by hand: each block turns its 64 numbers around, through shared memory.
target triple = "nvptx64-nvidia-cuda"

@slots = internal addrspace(3) global [64 x float] undef, align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @reverse(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, 64
  %i = add i32 %first, %thread
  %source = getelementptr float, ptr addrspace(1) %x, i32 %i
  %v = load float, ptr addrspace(1) %source
  %mine = getelementptr float, ptr addrspace(3) @slots, i32 %thread
  store float %v, ptr addrspace(3) %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %opposite = sub i32 63, %thread
  %other = getelementptr float, ptr addrspace(3) @slots, i32 %opposite
  %w = load float, ptr addrspace(3) %other
  %target = getelementptr float, ptr addrspace(1) %y, i32 %i
  store float %w, ptr addrspace(1) %target
  ret void
}
