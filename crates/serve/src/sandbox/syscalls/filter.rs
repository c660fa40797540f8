//! The filter itself, for processors whose system calls are listed here.

use std::{collections::BTreeMap, error::Error};

use libc as c;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

/// Installs the filter; returns how many system calls it allows.
pub(super) fn apply() -> Result<usize, Box<dyn Error>> {
    let rules = rules()?;
    let count = rules.len();
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Errno(u32::try_from(c::ENOSYS)?),
        SeccompAction::Allow,
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter_all_threads(&program)?;
    Ok(count)
}

fn rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let plain = [MEMORY, THREADS, FILES, NETWORK, TIME_AND_PROCESS, X86_ONLY];
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = plain
        .into_iter()
        .flatten()
        .map(|call| (*call, Vec::new()))
        .collect();
    let executable = c::PROT_EXEC as u64;
    rules.insert(c::SYS_mmap, vec![bits(2, executable, 0)?]);
    rules.insert(c::SYS_mprotect, vec![bits(2, executable, 0)?]);
    // A thread, never a process.
    let thread = c::CLONE_THREAD as u64;
    rules.insert(c::SYS_clone, vec![bits(0, thread, thread)?]);
    let families = [c::AF_UNIX, c::AF_INET, c::AF_INET6, c::AF_NETLINK];
    let families = families.into_iter().map(|family| is(0, family as u64));
    rules.insert(c::SYS_socket, families.collect::<Result<_, _>>()?);
    Ok(rules)
}

/// The bits `mask` of an argument are `value`.
fn bits(argument: u8, mask: u64, value: u64) -> Result<SeccompRule, BackendError> {
    compare(argument, SeccompCmpOp::MaskedEq(mask), value)
}

fn is(argument: u8, value: u64) -> Result<SeccompRule, BackendError> {
    compare(argument, SeccompCmpOp::Eq, value)
}

fn compare(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    let length = SeccompCmpArgLen::Dword;
    SeccompRule::new(vec![SeccompCondition::new(argument, length, how, value)?])
}

const MEMORY: &[i64] = &[
    c::SYS_brk,
    c::SYS_madvise,
    c::SYS_mremap,
    c::SYS_munmap,
    c::SYS_membarrier,
    c::SYS_memfd_create,
];

const THREADS: &[i64] = &[
    c::SYS_exit,
    c::SYS_exit_group,
    c::SYS_futex,
    c::SYS_get_robust_list,
    c::SYS_gettid,
    c::SYS_prctl,
    c::SYS_restart_syscall,
    c::SYS_rseq,
    c::SYS_rt_sigaction,
    c::SYS_rt_sigprocmask,
    c::SYS_rt_sigreturn,
    c::SYS_sched_getaffinity,
    c::SYS_sched_yield,
    c::SYS_set_robust_list,
    c::SYS_set_tid_address,
    c::SYS_sigaltstack,
    // A panic that aborts and pthread's own signals.
    c::SYS_tgkill,
];

const FILES: &[i64] = &[
    c::SYS_close,
    c::SYS_close_range,
    c::SYS_copy_file_range,
    c::SYS_dup,
    c::SYS_dup3,
    c::SYS_faccessat,
    c::SYS_faccessat2,
    c::SYS_fadvise64,
    c::SYS_fallocate,
    c::SYS_fchmod,
    c::SYS_fchmodat,
    c::SYS_fchown,
    c::SYS_fcntl,
    c::SYS_fdatasync,
    c::SYS_fgetxattr,
    c::SYS_flistxattr,
    c::SYS_flock,
    c::SYS_fremovexattr,
    c::SYS_fsetxattr,
    c::SYS_fstat,
    c::SYS_fstatfs,
    c::SYS_fsync,
    c::SYS_ftruncate,
    c::SYS_getcwd,
    c::SYS_getdents64,
    c::SYS_getxattr,
    c::SYS_inotify_add_watch,
    c::SYS_inotify_init1,
    c::SYS_inotify_rm_watch,
    c::SYS_ioctl,
    c::SYS_lgetxattr,
    c::SYS_linkat,
    c::SYS_listxattr,
    c::SYS_llistxattr,
    c::SYS_lremovexattr,
    c::SYS_lseek,
    c::SYS_lsetxattr,
    c::SYS_mkdirat,
    c::SYS_newfstatat,
    c::SYS_openat,
    c::SYS_openat2,
    c::SYS_pipe2,
    c::SYS_pread64,
    c::SYS_preadv,
    c::SYS_preadv2,
    c::SYS_pwrite64,
    c::SYS_pwritev,
    c::SYS_pwritev2,
    c::SYS_read,
    c::SYS_readlinkat,
    c::SYS_readv,
    c::SYS_removexattr,
    c::SYS_renameat,
    c::SYS_renameat2,
    c::SYS_sendfile,
    c::SYS_setxattr,
    c::SYS_splice,
    c::SYS_statfs,
    c::SYS_statx,
    c::SYS_symlinkat,
    c::SYS_sync_file_range,
    c::SYS_syncfs,
    c::SYS_umask,
    c::SYS_unlinkat,
    c::SYS_utimensat,
    c::SYS_write,
    c::SYS_writev,
];

const NETWORK: &[i64] = &[
    c::SYS_accept,
    c::SYS_accept4,
    c::SYS_bind,
    c::SYS_connect,
    c::SYS_epoll_create1,
    c::SYS_epoll_ctl,
    c::SYS_epoll_pwait,
    c::SYS_epoll_pwait2,
    c::SYS_eventfd2,
    c::SYS_getpeername,
    c::SYS_getsockname,
    c::SYS_getsockopt,
    c::SYS_listen,
    c::SYS_ppoll,
    c::SYS_pselect6,
    c::SYS_recvfrom,
    c::SYS_recvmmsg,
    c::SYS_recvmsg,
    c::SYS_sendmmsg,
    c::SYS_sendmsg,
    c::SYS_sendto,
    c::SYS_setsockopt,
    c::SYS_shutdown,
    c::SYS_socketpair,
];

const TIME_AND_PROCESS: &[i64] = &[
    c::SYS_clock_getres,
    c::SYS_clock_gettime,
    c::SYS_clock_nanosleep,
    c::SYS_getegid,
    c::SYS_geteuid,
    c::SYS_getgid,
    c::SYS_getgroups,
    c::SYS_getpid,
    c::SYS_getppid,
    c::SYS_getrandom,
    c::SYS_getrlimit,
    c::SYS_getrusage,
    c::SYS_gettimeofday,
    c::SYS_getuid,
    c::SYS_nanosleep,
    c::SYS_prlimit64,
    // Giving up root's rights, which is done once, after the ports are bound.
    c::SYS_setgid,
    c::SYS_setgroups,
    c::SYS_setresgid,
    c::SYS_setresuid,
    c::SYS_setrlimit,
    c::SYS_setuid,
    c::SYS_sysinfo,
    c::SYS_timerfd_create,
    c::SYS_timerfd_gettime,
    c::SYS_timerfd_settime,
    c::SYS_uname,
];

/// Older forms, which newer processors never had.
#[cfg(target_arch = "x86_64")]
const X86_ONLY: &[i64] = &[
    c::SYS_access,
    c::SYS_arch_prctl,
    c::SYS_chmod,
    c::SYS_dup2,
    c::SYS_epoll_create,
    c::SYS_epoll_wait,
    c::SYS_eventfd,
    c::SYS_getdents,
    c::SYS_link,
    c::SYS_lstat,
    c::SYS_mkdir,
    c::SYS_open,
    c::SYS_pipe,
    c::SYS_poll,
    c::SYS_readlink,
    c::SYS_rename,
    c::SYS_rmdir,
    c::SYS_select,
    c::SYS_stat,
    c::SYS_time,
    c::SYS_unlink,
];
#[cfg(not(target_arch = "x86_64"))]
const X86_ONLY: &[i64] = &[];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn calls_that_start_programs_or_reach_other_processes_are_not_allowed() {
        let rules = rules().unwrap();
        let never = [
            c::SYS_execve,
            c::SYS_execveat,
            c::SYS_clone3,
            c::SYS_ptrace,
            c::SYS_process_vm_writev,
            c::SYS_mount,
            c::SYS_bpf,
            c::SYS_init_module,
            c::SYS_unshare,
            c::SYS_setns,
            c::SYS_kill,
            c::SYS_open_by_handle_at,
        ];
        assert!(never.iter().all(|call| !rules.contains_key(call)));
        let narrowed = [c::SYS_mmap, c::SYS_mprotect, c::SYS_clone, c::SYS_socket];
        assert!(narrowed.iter().all(|call| !rules[call].is_empty()));
    }
}
