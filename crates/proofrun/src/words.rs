//! Small pieces of language that several commands share: ages, counts, lines that fit a terminal.

use jiff::Timestamp;

/// The width that texts are laid out for, in columns.
pub const COLUMNS: usize = 80;

/// How long ago something was, roughly, as `5 minutes`, `3 days`, `2 years`. A time that the clock
/// has not reached yet is said to be so: host and reader need not agree about the time.
pub fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second());
    // Each unit with the seconds it lasts, the largest first; months and years are mean ones.
    let units = [
        (31_557_600, "year"),
        (2_629_800, "month"),
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
    ];
    if seconds < 0 {
        return "in the future".to_owned();
    }
    let fits = |(length, _): &&(i64, &str)| seconds >= *length;
    match units.iter().find(fits) {
        Some((length, unit)) => count((seconds / length) as usize, unit),
        None => "moments".to_owned(),
    }
}

/// The age in a sentence: `3 days ago`, `in the future`.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let age = age(then, now);
    if age == "in the future" { age } else { format!("{age} ago") }
}

/// `1 lesson`, `2 lessons`.
pub fn count(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A text broken at blanks into lines of at most [`COLUMNS`]; lines after the first are indented. A
/// word that is longer stays whole, so that paths and commands can be copied.
pub fn wrapped(first: &str, indent: usize, text: &str) -> String {
    let mut out = first.to_owned();
    let mut column = first.chars().count();
    let mut fresh = true;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if !fresh && column + 1 + width > COLUMNS {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
            fresh = true;
        }
        if !fresh {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
        fresh = false;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_the_largest_whole_unit() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        let table = [
            ("2026-06-01T00:00:01Z", "in the future"),
            ("2026-05-31T23:59:30Z", "moments"),
            ("2026-05-31T23:58:59Z", "1 minute"),
            ("2026-05-31T01:00:00Z", "23 hours"),
            ("2026-05-31T00:00:00Z", "1 day"),
            ("2026-05-03T00:00:00Z", "29 days"),
            ("2026-03-01T00:00:00Z", "3 months"),
            ("2023-01-01T00:00:00Z", "3 years"),
        ];
        for (then, expect) in table {
            assert_eq!(age(then.parse().unwrap(), now), expect, "{then}");
        }
    }

    #[test]
    fn lines_break_at_blanks_and_words_stay_whole() {
        let word = "x".repeat(60);
        let long = "y".repeat(90);
        let text = wrapped("  a  ", 4, &format!("{word} {word} {long} b"));
        assert_eq!(text, format!("  a  {word}\n    {word}\n    {long}\n    b\n"));
        assert_eq!(wrapped("a ", 2, ""), "a \n");
    }
}
