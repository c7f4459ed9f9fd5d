; ModuleID = 'test/kernels/device/reverse_amd.cl'
source_filename = "test/kernels/device/reverse_amd.cl"
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@reverse.slots = internal unnamed_addr addrspace(3) global [256 x float] undef, align 4

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn
define protected amdgpu_kernel void @reverse(ptr addrspace(1) noundef readonly align 4 captures(none) %0, ptr addrspace(1) noundef writeonly align 4 captures(none) %1, i32 noundef %2) local_unnamed_addr #0 !dbg !13 !kernel_arg_addr_space !16 !kernel_arg_access_qual !17 !kernel_arg_type !18 !kernel_arg_base_type !18 !kernel_arg_type_qual !19 !reqd_work_group_size !20 {
  %4 = tail call i32 @llvm.amdgcn.workitem.id.x(), !dbg !21
  %5 = tail call i32 @llvm.amdgcn.workgroup.id.x(), !dbg !24
  %6 = shl i32 %5, 8, !dbg !25
  %7 = add i32 %6, %4, !dbg !26
  %8 = icmp ult i32 %7, %2, !dbg !27
  br i1 %8, label %9, label %13, !dbg !28

9:                                                ; preds = %3
  %10 = zext i32 %7 to i64
  %11 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %10
  %12 = load float, ptr addrspace(1) %11, align 4, !dbg !29, !tbaa !30, !amdgpu.noclobber !15
  br label %13, !dbg !28

13:                                               ; preds = %9, %3
  %14 = phi float [ %12, %9 ], [ 0.000000e+00, %3 ], !dbg !28
  %15 = getelementptr inbounds nuw float, ptr addrspace(3) @reverse.slots, i32 %4, !dbg !32
  store float %14, ptr addrspace(3) %15, align 4, !dbg !33, !tbaa !30
  fence syncscope("workgroup") release, !dbg !34
  tail call void @llvm.amdgcn.s.barrier(), !dbg !35
  fence syncscope("workgroup") acquire, !dbg !36
  br i1 %8, label %16, label %22, !dbg !37

16:                                               ; preds = %13
  %17 = zext i32 %7 to i64
  %18 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %17
  %19 = sub nsw i32 255, %4
  %20 = getelementptr inbounds nuw float, ptr addrspace(3) @reverse.slots, i32 %19
  %21 = load float, ptr addrspace(3) %20, align 4, !dbg !38, !tbaa !30
  store float %21, ptr addrspace(1) %18, align 4, !dbg !39, !tbaa !30
  br label %22, !dbg !40

22:                                               ; preds = %13, %16
  ret void, !dbg !41
}

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nounwind willreturn
define protected void @__clang_ocl_kern_imp_reverse(ptr addrspace(1) noundef readonly align 4 captures(none) %0, ptr addrspace(1) noundef writeonly align 4 captures(none) %1, i32 noundef %2) local_unnamed_addr #1 !dbg !22 !kernel_arg_addr_space !16 !kernel_arg_access_qual !17 !kernel_arg_type !18 !kernel_arg_base_type !18 !kernel_arg_type_qual !19 !reqd_work_group_size !20 {
  %4 = tail call i32 @llvm.amdgcn.workitem.id.x(), !dbg !42
  %5 = tail call i32 @llvm.amdgcn.workgroup.id.x(), !dbg !43
  %6 = shl i32 %5, 8, !dbg !44
  %7 = add i32 %6, %4, !dbg !45
  %8 = icmp ult i32 %7, %2, !dbg !46
  br i1 %8, label %9, label %13, !dbg !47

9:                                                ; preds = %3
  %10 = zext i32 %7 to i64
  %11 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %10
  %12 = load float, ptr addrspace(1) %11, align 4, !dbg !48, !tbaa !30
  br label %13, !dbg !47

13:                                               ; preds = %3, %9
  %14 = phi float [ %12, %9 ], [ 0.000000e+00, %3 ], !dbg !47
  %15 = getelementptr inbounds nuw float, ptr addrspace(3) @reverse.slots, i32 %4, !dbg !49
  store float %14, ptr addrspace(3) %15, align 4, !dbg !50, !tbaa !30
  fence syncscope("workgroup") release, !dbg !51
  tail call void @llvm.amdgcn.s.barrier(), !dbg !52
  fence syncscope("workgroup") acquire, !dbg !53
  br i1 %8, label %16, label %22, !dbg !54

16:                                               ; preds = %13
  %17 = zext i32 %7 to i64
  %18 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %17
  %19 = sub nsw i32 255, %4
  %20 = getelementptr inbounds nuw float, ptr addrspace(3) @reverse.slots, i32 %19
  %21 = load float, ptr addrspace(3) %20, align 4, !dbg !55, !tbaa !30
  store float %21, ptr addrspace(1) %18, align 4, !dbg !56, !tbaa !30
  br label %22, !dbg !57

22:                                               ; preds = %16, %13
  ret void, !dbg !58
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workgroup.id.x() #2

; Function Attrs: convergent mustprogress nocallback nofree nounwind willreturn
declare void @llvm.amdgcn.s.barrier() #3

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn "amdgpu-agpr-alloc"="0" "amdgpu-flat-work-group-size"="256,256" "amdgpu-no-cluster-id-x" "amdgpu-no-cluster-id-y" "amdgpu-no-cluster-id-z" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-flat-scratch-init" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx942" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-ds-pk-add-16-insts,+atomic-fadd-rtn-insts,+atomic-flat-pk-add-16-insts,+atomic-fmin-fmax-global-f64,+atomic-global-pk-add-bf16-inst,+ci-insts,+cube-insts,+cvt-pknorm-vop2-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+fp8-conversion-insts,+fp8-insts,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+gfx940-insts,+lerp-inst,+mai-insts,+qsad-insts,+s-memrealtime,+s-memtime-inst,+sad-insts,+wavefrontsize64,+xf32-insts" "uniform-work-group-size"="true" }
attributes #1 = { alwaysinline convergent mustprogress nofree norecurse nounwind willreturn "amdgpu-agpr-alloc"="0" "amdgpu-flat-work-group-size"="256,256" "amdgpu-no-cluster-id-x" "amdgpu-no-cluster-id-y" "amdgpu-no-cluster-id-z" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-flat-scratch-init" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx942" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-ds-pk-add-16-insts,+atomic-fadd-rtn-insts,+atomic-flat-pk-add-16-insts,+atomic-fmin-fmax-global-f64,+atomic-global-pk-add-bf16-inst,+ci-insts,+cube-insts,+cvt-pknorm-vop2-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+fp8-conversion-insts,+fp8-insts,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+gfx940-insts,+lerp-inst,+mai-insts,+qsad-insts,+s-memrealtime,+s-memtime-inst,+sad-insts,+wavefrontsize64,+xf32-insts" "uniform-work-group-size"="false" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent mustprogress nocallback nofree nounwind willreturn }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6}
!opencl.ocl.version = !{!7}
!llvm.ident = !{!8}
!llvm.errno.tbaa = !{!9}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 22.1.8 (1~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "test/kernels/device/reverse_amd.cl", directory: ".", checksumkind: CSK_MD5, checksum: "5a82605a097a453ecbd4af46c6da4d22")
!2 = !{i32 1, !"amdhsa_code_object_version", i32 600}
!3 = !{i32 7, !"Dwarf Version", i32 5}
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = !{i32 1, !"wchar_size", i32 4}
!6 = !{i32 8, !"PIC Level", i32 2}
!7 = !{i32 1, i32 2}
!8 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C/C++ TBAA"}
!13 = distinct !DISubprogram(name: "reverse", scope: !1, file: !1, line: 4, type: !14, scopeLine: 4, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{i32 1, i32 1, i32 0}
!17 = !{!"none", !"none", !"none"}
!18 = !{!"float*", !"float*", !"uint"}
!19 = !{!"", !"", !""}
!20 = !{i32 256, i32 1, i32 1}
!21 = !DILocation(line: 6, column: 17, scope: !22, inlinedAt: !23)
!22 = distinct !DISubprogram(name: "reverse", scope: !1, file: !1, line: 4, type: !14, scopeLine: 4, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!23 = distinct !DILocation(line: 4, column: 55, scope: !13)
!24 = !DILocation(line: 7, column: 12, scope: !22, inlinedAt: !23)
!25 = !DILocation(line: 7, column: 46, scope: !22, inlinedAt: !23)
!26 = !DILocation(line: 7, column: 52, scope: !22, inlinedAt: !23)
!27 = !DILocation(line: 8, column: 21, scope: !22, inlinedAt: !23)
!28 = !DILocation(line: 8, column: 19, scope: !22, inlinedAt: !23)
!29 = !DILocation(line: 8, column: 31, scope: !22, inlinedAt: !23)
!30 = !{!31, !31, i64 0}
!31 = !{!"float", !11, i64 0}
!32 = !DILocation(line: 8, column: 3, scope: !22, inlinedAt: !23)
!33 = !DILocation(line: 8, column: 17, scope: !22, inlinedAt: !23)
!34 = !DILocation(line: 9, column: 26, scope: !22, inlinedAt: !23)
!35 = !DILocation(line: 10, column: 3, scope: !22, inlinedAt: !23)
!36 = !DILocation(line: 11, column: 26, scope: !22, inlinedAt: !23)
!37 = !DILocation(line: 12, column: 9, scope: !22, inlinedAt: !23)
!38 = !DILocation(line: 13, column: 12, scope: !22, inlinedAt: !23)
!39 = !DILocation(line: 13, column: 10, scope: !22, inlinedAt: !23)
!40 = !DILocation(line: 13, column: 5, scope: !22, inlinedAt: !23)
!41 = !DILocation(line: 14, column: 1, scope: !13)
!42 = !DILocation(line: 6, column: 17, scope: !22)
!43 = !DILocation(line: 7, column: 12, scope: !22)
!44 = !DILocation(line: 7, column: 46, scope: !22)
!45 = !DILocation(line: 7, column: 52, scope: !22)
!46 = !DILocation(line: 8, column: 21, scope: !22)
!47 = !DILocation(line: 8, column: 19, scope: !22)
!48 = !DILocation(line: 8, column: 31, scope: !22)
!49 = !DILocation(line: 8, column: 3, scope: !22)
!50 = !DILocation(line: 8, column: 17, scope: !22)
!51 = !DILocation(line: 9, column: 26, scope: !22)
!52 = !DILocation(line: 10, column: 3, scope: !22)
!53 = !DILocation(line: 11, column: 26, scope: !22)
!54 = !DILocation(line: 12, column: 9, scope: !22)
!55 = !DILocation(line: 13, column: 12, scope: !22)
!56 = !DILocation(line: 13, column: 10, scope: !22)
!57 = !DILocation(line: 13, column: 5, scope: !22)
!58 = !DILocation(line: 14, column: 1, scope: !22)
