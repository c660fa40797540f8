//! seccomp: the system calls that a file server needs, and no others.
//!
//! A call that is not on the list fails with ENOSYS ("no such system call"), as on an older kernel: libraries that try
//! a newer call first then take the older one. So the process cannot start programs, trace processes, mount file
//! systems, load kernel modules, or make memory executable.
//!
//! The list is what `strace` shows of a server under the clients of `scripts/test --only peers`, and what the C library and tokio use in
//! its place on other kernels.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod filter;

/// Restricts every thread of this process, and those it starts, to the system calls of a file server.
///
/// # Errors
/// Why it is not restricted.
pub(super) fn restrict() -> Result<String, String> {
    let missing = |why: String| format!("limits on system calls ({why})");
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    return filter::apply()
        .map(|count| format!("{count} system calls allowed by seccomp"))
        .map_err(|error| missing(error.to_string()));
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    Err(missing(format!(
        "the filter is not available for {} processors",
        std::env::consts::ARCH
    )))
}
