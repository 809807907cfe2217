//! Random templates and outputs: nothing panics, what is rendered matches, and what is altered does
//! not.

use proptest::prelude::*;

use super::*;

/// A field in words of the template, what the program prints for it, and whether it is exact.
fn field() -> impl Strategy<Value = (String, String, bool)> {
    let exact = |field: &str, text: &str| Just((field.to_owned(), text.to_owned(), true));
    prop_oneof![
        exact("{device}", "NVIDIA H200"),
        exact("{cc}", "9.0"),
        exact("{sm_count}", "132"),
        exact("{l2_bytes width 10}", "  62914560"),
        (0..1_000_000_u64)
            .prop_map(|n| { (format!("{{= {n} + sm_count}}"), (n + 132).to_string(), true) }),
        any::<u64>().prop_map(|n| ("{NAME:count}".to_owned(), n.to_string(), false)),
        (0..10_u32, 0..10_u64.pow(15), 0..20_usize).prop_map(|(decimals, mantissa, width)| {
            let number = crate::decimal::Decimal::new(i128::from(mantissa), decimals).unwrap();
            let kind = format!("{{NAME:us.{decimals} width {}}}", width + 1);
            let bare = kind.replace('}', " bare}");
            let text = format!("{:>1$}", number.to_string(), width + 1);
            // An odd mantissa prints its unit, spelled out by the template.
            if mantissa % 2 == 1 {
                (format!("{kind} us:"), text + " us:", false)
            } else {
                (bare, text, false)
            }
        }),
    ]
}

type Rendered = (String, String, Vec<(usize, usize)>);

/// A template, an output that fits it, and where in the output the exact numbers and texts stand.
fn rendered() -> impl Strategy<Value = Rendered> {
    let line = prop::collection::vec((field(), "[a-zé{}:]{1,5}"), 0..4);
    let first = "[A-Za-zµ{}=]{1,8} ";
    prop::collection::vec((first, line), 1..6).prop_map(|lines| {
        let (mut template, mut output, mut exact) = (String::new(), String::new(), Vec::new());
        let literal = |text: &str| text.replace('{', "{{").replace('}', "}}");
        let mut names = 0;
        for (first, fields) in lines {
            template.push_str(&literal(&first));
            output.push_str(&first);
            for ((field, printed, is_exact), text) in fields {
                names += 1;
                template.push_str(&field.replace("NAME", &format!("f{names}")));
                if is_exact {
                    exact.push((output.len(), output.len() + printed.len()));
                }
                output.push_str(&printed);
                template.push_str(&literal(&text));
                output.push_str(&text);
            }
            template.push('\n');
            output.push('\n');
        }
        (template, output, exact)
    })
}

/// Pieces of templates, so that random ones often parse.
const WORDS: &[&str] = &[
    "{",
    "}",
    "{a:ms.3",
    "{b:count",
    "{c = ",
    "a",
    "b",
    "sm_count",
    "{r:ratio.1 = ",
    "/",
    "b / a",
    "min(",
    ",",
    ")",
    "{repeat ",
    "1",
    "..",
    "9",
    "}\n",
    "\n",
    "{unordered}\n",
    "{end}\n",
    " in ",
    " width ",
    "{w:gbps.2 = ",
    "a / b",
    "{{",
    "}}",
    "x ",
    "{device}",
];

/// Pieces of outputs.
const PRINTED: &[&str] =
    &["1", "0.5", "nan", "x ", "a", "\n", "-", " ", "NVIDIA H200", "\u{1b}", "{", "}", "é", "\r"];

proptest! {
    #[test]
    fn what_is_rendered_matches((template, output, _) in rendered()) {
        let found = parse(&template).matches(output.as_bytes(), &h200());
        prop_assert!(found.is_ok(), "{}\n{}\n{:?}", template, output, found);
    }

    #[test]
    fn an_altered_digit_of_an_exact_field_never_matches(
        (template, output, exact) in rendered(),
        pick in any::<prop::sample::Index>(),
        add in 1..10_u8,
    ) {
        let digit = |at: &usize| output.as_bytes()[*at].is_ascii_digit();
        let places = exact.iter().flat_map(|(from, to)| *from..*to);
        let digits: Vec<usize> = places.filter(digit).collect();
        prop_assume!(!digits.is_empty());
        let mut bytes = output.into_bytes();
        let at = digits[pick.index(digits.len())];
        bytes[at] = b'0' + (bytes[at] - b'0' + add) % 10;
        prop_assert!(parse(&template).matches(&bytes, &h200()).is_err());
    }

    #[test]
    fn a_dropped_or_doubled_line_never_matches(
        (template, output, _) in rendered(),
        pick in any::<prop::sample::Index>(),
        double in any::<bool>(),
    ) {
        let mut lines: Vec<&str> = output.split_inclusive('\n').collect();
        let at = pick.index(lines.len());
        if double {
            lines.insert(at, lines[at]);
        } else {
            lines.remove(at);
        }
        prop_assert!(parse(&template).matches(lines.concat().as_bytes(), &h200()).is_err());
    }

    #[test]
    fn a_parsed_template_is_shown_as_it_is((template, _, _) in rendered()) {
        let shown: String = parse(&template).lines().map(|line| format!("{line}\n")).collect();
        prop_assert_eq!(shown, template);
    }

    #[test]
    fn no_template_panics(text in "[a-c{}:=.,()/+*%0-9 \n\r\té-]{0,80}") {
        let _ = Template::parse(&text);
    }

    #[test]
    fn no_words_panic(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..40),
        output in prop::collection::vec(prop::sample::select(PRINTED), 0..40),
    ) {
        if let Ok(template) = Template::parse(&words.concat()) {
            let _ = template.matches(output.concat().as_bytes(), &h200());
        }
    }

    #[test]
    fn no_output_panics(output in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(parse(DAY_75).matches(&output, &h200()).is_err());
    }
}
