//! Numbers and addresses in one line.

/// `139, 445`.
pub(super) fn listed<T: ToString>(all: &[T]) -> String {
    let all: Vec<String> = all.iter().map(T::to_string).collect();
    all.join(", ")
}
