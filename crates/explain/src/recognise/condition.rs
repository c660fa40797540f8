//! Conditions over facts: `FACT OPERATOR VALUE`.

use super::facts::Facts;
use super::vocabulary::{Kind, Value, word};

/// One condition of a piece of advice.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The fact.
    pub fact: String,
    operator: Operator,
    right: Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    Other,
    AtLeast,
    AtMost,
    More,
    Less,
    In,
    Matches,
}

#[derive(Clone, Debug, PartialEq)]
enum Right {
    Number(f64),
    Text(String),
    List(Vec<String>),
    Fact(String),
}

const OPERATORS: [(&str, Operator); 8] = [
    ("==", Operator::Equal),
    ("!=", Operator::Other),
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    (">", Operator::More),
    ("<", Operator::Less),
    ("in", Operator::In),
    ("matches", Operator::Matches),
];

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// What is wrong: a fact that there is not, an operator that there is not, a value of another kind than the fact's.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.splitn(3, ' ');
        let (Some(fact), Some(sign), Some(value)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(format!("{text:?}: FACT OPERATOR VALUE is wanted"));
        };
        let kind = word(fact)
            .ok_or_else(|| format!("{text:?}: there is no fact {fact:?}"))?
            .kind;
        let operator = OPERATORS.iter().find(|known| known.0 == sign);
        let operator = operator
            .ok_or_else(|| format!("{text:?}: there is no operator {sign:?}"))?
            .1;
        let right =
            right(operator, kind, value.trim()).map_err(|what| format!("{text:?}: {what}"))?;
        Ok(Self {
            fact: fact.to_owned(),
            operator,
            right,
        })
    }

    /// Whether it is so. Of what is not known nothing is so.
    pub fn holds(&self, facts: &Facts) -> bool {
        let Some(left) = facts.get(&self.fact) else {
            return false;
        };
        match (&self.right, left) {
            (Right::Number(right), Value::Number(left)) => self.compare(*left, *right),
            (Right::Fact(name), Value::Number(left)) => match facts.get(name) {
                Some(Value::Number(right)) => self.compare(*left, *right),
                _ => false,
            },
            (Right::Text(right), left) => self.is_text(left, right),
            (Right::List(right), Value::Text(left)) => right.contains(left),
            (Right::List(right), Value::List(left)) => left.iter().any(|left| right.contains(left)),
            _ => false,
        }
    }

    fn compare(&self, left: f64, right: f64) -> bool {
        match self.operator {
            Operator::Equal => left == right,
            Operator::Other => left != right,
            Operator::AtLeast => left >= right,
            Operator::AtMost => left <= right,
            Operator::More => left > right,
            Operator::Less => left < right,
            Operator::In | Operator::Matches => false,
        }
    }

    fn is_text(&self, left: &Value, right: &str) -> bool {
        let is = |left: &str| match self.operator {
            Operator::Equal => left == right,
            Operator::Matches => left.to_lowercase().contains(&right.to_lowercase()),
            _ => false,
        };
        match left {
            Value::Text(left) if self.operator == Operator::Other => left != right,
            Value::Text(left) => is(left),
            Value::List(left) => left.iter().any(|left| is(left)),
            Value::Flag(left) => {
                let same = right == if *left { "yes" } else { "no" };
                same == (self.operator == Operator::Equal)
            }
            Value::Number(_) => false,
        }
    }
}

fn right(operator: Operator, kind: Kind, value: &str) -> Result<Right, String> {
    let is_order = !matches!(operator, Operator::In | Operator::Matches);
    let is_equality = matches!(operator, Operator::Equal | Operator::Other);
    match kind {
        Kind::Number if is_order => match (value.parse(), word(value)) {
            (Ok(number), _) => Ok(Right::Number(number)),
            (_, Some(other)) if other.kind == Kind::Number => Ok(Right::Fact(value.to_owned())),
            _ => Err(format!(
                "{value:?} is neither a number nor a fact that is one"
            )),
        },
        Kind::Flag if is_equality && matches!(value, "yes" | "no") => {
            Ok(Right::Text(value.to_owned()))
        }
        Kind::Flag => Err("of this fact only == yes and == no can be asked".to_owned()),
        Kind::Text | Kind::List if operator == Operator::In => {
            let inner = value
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'));
            let inner = inner.ok_or("in wants [A, B]")?;
            Ok(Right::List(
                inner
                    .split(',')
                    .map(|item| item.trim().to_owned())
                    .collect(),
            ))
        }
        Kind::Text | Kind::List if operator == Operator::Matches || is_equality => {
            Ok(Right::Text(value.to_owned()))
        }
        _ => Err("this operator is not for facts of this kind".to_owned()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn holds(text: &str, facts: &Facts) -> bool {
        Condition::parse(text).unwrap().holds(facts)
    }

    #[test]
    fn a_condition_compares_a_fact_with_a_constant_or_another_fact() {
        let mut facts = Facts::default();
        facts.set("block.usual", 4096_u64);
        facts.set("buffer.server", 4356_u64);
        facts.set("direction", "to-client");
        facts.set("raw-read.offered", true);
        facts.set(
            "refusals",
            vec!["SESSION_SETUP_ANDX:ERRSRV/2242".to_owned()],
        );
        for yes in [
            "block.usual == 4096",
            "block.usual != 512",
            "block.usual >= 4096",
            "block.usual <= buffer.server",
            "block.usual < 4097",
            "block.usual > 4095",
            "direction == to-client",
            "direction != to-server",
            "direction in [to-client, nowhere]",
            "direction matches CLIENT",
            "raw-read.offered == yes",
            "raw-read.offered != no",
            "refusals matches errsrv/2242",
        ] {
            assert!(holds(yes, &facts), "{yes}");
        }
        for no in [
            "block.usual == 4097",
            "block.usual > buffer.server",
            "direction == to-server",
            "direction in [a, b]",
            "raw-read.offered == no",
            "refusals matches ERRDOS",
            "mss.client >= 0",
            "server.name != Samba",
        ] {
            assert!(!holds(no, &facts), "{no}");
        }
    }

    #[test]
    fn what_is_not_in_the_vocabulary_is_an_error() {
        for wrong in [
            "block.usal == 4096",
            "block.usual = 4096",
            "block.usual == many",
            "block.usual matches 4096",
            "raw-read.offered >= yes",
            "raw-read.offered == perhaps",
            "direction in to-client",
            "direction >= to-client",
            "direction",
        ] {
            assert!(Condition::parse(wrong).is_err(), "{wrong}");
        }
    }
}
