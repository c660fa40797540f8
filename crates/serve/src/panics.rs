//! Panics of threads.

use super::{memory, report::Reporter};

/// Ends the process if a runtime thread panics, for example because epoll failed, so that a supervisor can restart it.
/// Otherwise the process would stay up without serving clients.
pub(super) fn end_with_the_runtime(reporter: &Reporter) {
    let (reporter, usual) = (reporter.clone(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some(memory::THREAD) {
            return;
        }
        usual(panic);
        let place = panic.location().map(std::panic::Location::file);
        if place.is_some_and(is_in_the_runtime) {
            reporter.notice(format!(
                "the system no longer says what clients do: {panic}"
            ));
            reporter.flush();
            std::process::exit(1);
        }
    }));
}

/// Whether a source file belongs to the runtime's own threads, not to client tasks.
fn is_in_the_runtime(file: &str) -> bool {
    file.contains("tokio-") && file.contains("/src/runtime/")
}
