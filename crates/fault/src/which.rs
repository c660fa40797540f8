//! Which of the requests a fault is for.

use core::{fmt, str::FromStr};

use crate::error::{FaultError, value};

/// Which of the requests, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// Those from the first number to the second one, which may be [`u64::MAX`].
    Range(u64, u64),
    /// Every Nth.
    Every(u64),
}

const EXAMPLE: &str = "#3, #3..5, #3.. or #every 10";

impl FromStr for Which {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let wrong = || value("number of a request", text, EXAMPLE);
        let number = |word: &str| match word.trim().parse::<u64>() {
            Ok(0) | Err(_) => Err(wrong()),
            Ok(number) => Ok(number),
        };
        if let Some(rest) = text.strip_prefix("every") {
            return number(rest).map(Self::Every);
        }
        let (first, last) = match text.split_once("..") {
            Some((first, "")) => (number(first)?, u64::MAX),
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(text)?, number(text)?),
        };
        match first <= last {
            true => Ok(Self::Range(first, last)),
            false => Err(wrong()),
        }
    }
}

impl Which {
    /// Whether the request with this number is one.
    pub fn includes(self, number: u64) -> bool {
        match self {
            Self::Range(first, last) => first <= number && number <= last,
            Self::Every(step) => number.checked_rem(step) == Some(0),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every(1) => Ok(()),
            Self::Every(step) => write!(f, "#every {step}"),
            Self::Range(first, last) if first == last => write!(f, "#{first}"),
            Self::Range(first, u64::MAX) => write!(f, "#{first}.."),
            Self::Range(first, last) => write!(f, "#{first}..{last}"),
        }
    }
}
