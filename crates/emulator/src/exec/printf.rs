//! `printf` of the device: the conversions of C, with every argument in memory.

/// Reads the next argument of so many bytes; with `true` it points to a text, which is returned
/// too.
pub(crate) type Next<'a> = dyn FnMut(u8, bool) -> (u64, Vec<u8>) + 'a;

/// One conversion.
#[derive(Debug, Default)]
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
    long: bool,
    conversion: u8,
}

/// Formats; returns how many arguments were used, as the device's `printf` does.
pub(crate) fn format(pattern: &[u8], out: &mut Vec<u8>, next: &mut Next<'_>) -> u32 {
    let mut at = 0;
    let mut used = 0;
    while at < pattern.len() {
        if pattern[at] != b'%' {
            out.push(pattern[at]);
            at += 1;
            continue;
        }
        if pattern.get(at + 1) == Some(&b'%') {
            out.push(b'%');
            at += 2;
            continue;
        }
        let (spec, end) = parse(pattern, at + 1, next, &mut used);
        if spec.conversion == 0 {
            out.extend_from_slice(&pattern[at..]);
            return used;
        }
        convert(&spec, out, next);
        used += 1;
        at = end;
    }
    used
}

fn parse(pattern: &[u8], mut at: usize, next: &mut Next<'_>, used: &mut u32) -> (Spec, usize) {
    let mut spec = Spec::default();
    while let Some(flag) = pattern.get(at) {
        match flag {
            b'-' => spec.minus = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        at += 1;
    }
    let mut star = |at: &mut usize| -> Option<i32> {
        if pattern.get(*at) == Some(&b'*') {
            *at += 1;
            *used += 1;
            return Some(next(4, false).0 as u32 as i32);
        }
        let mut value = None;
        while let Some(digit) = pattern.get(*at).filter(|byte| byte.is_ascii_digit()) {
            let digit = i32::from(digit - b'0');
            value = Some(value.unwrap_or(0i32).saturating_mul(10).saturating_add(digit).min(4096));
            *at += 1;
        }
        value
    };
    if let Some(width) = star(&mut at) {
        spec.minus |= width < 0;
        spec.width = Some(width.unsigned_abs().min(4096) as usize);
    }
    if pattern.get(at) == Some(&b'.') {
        at += 1;
        let precision = star(&mut at).unwrap_or(0);
        spec.precision = usize::try_from(precision).ok().map(|value| value.min(4096));
    }
    while let Some(length) = pattern.get(at) {
        match length {
            b'l' | b'j' | b'z' | b't' | b'q' => spec.long = true,
            b'h' | b'L' => {}
            _ => break,
        }
        at += 1;
    }
    spec.conversion = pattern.get(at).copied().unwrap_or(0);
    if !b"diouxXcspfFeEgGaA".contains(&spec.conversion) {
        spec.conversion = 0;
    }
    (spec, at + 1)
}

fn convert(spec: &Spec, out: &mut Vec<u8>, next: &mut Next<'_>) {
    match spec.conversion {
        b'd' | b'i' => {
            let value = if spec.long {
                next(8, false).0 as i64
            } else {
                i64::from(next(4, false).0 as u32 as i32)
            };
            integer(spec, out, value < 0, value.unsigned_abs());
        }
        b'o' | b'u' | b'x' | b'X' => {
            let value = if spec.long { next(8, false).0 } else { next(4, false).0 & 0xffff_ffff };
            integer(spec, out, false, value);
        }
        b'c' => {
            let value = next(4, false).0 as u8;
            pad(spec, out, b"", &[value], false);
        }
        b's' => {
            let (_, mut text) = next(8, true);
            text.truncate(spec.precision.unwrap_or(usize::MAX));
            pad(spec, out, b"", &text, false);
        }
        b'p' => {
            let value = next(8, false).0;
            let text = if value == 0 { "(nil)".to_owned() } else { format!("{value:#x}") };
            pad(spec, out, b"", text.as_bytes(), false);
        }
        _ => float(spec, out, f64::from_bits(next(8, false).0)),
    }
}

fn sign(spec: &Spec, negative: bool) -> &'static [u8] {
    match (negative, spec.plus, spec.space) {
        (true, ..) => b"-",
        (false, true, _) => b"+",
        (false, false, true) => b" ",
        _ => b"",
    }
}

fn integer(spec: &Spec, out: &mut Vec<u8>, negative: bool, value: u64) {
    let digits = match spec.conversion {
        b'o' => format!("{value:o}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        _ => value.to_string(),
    };
    let signed = matches!(spec.conversion, b'd' | b'i');
    let prefix: &[u8] = match spec.conversion {
        _ if signed => sign(spec, negative),
        b'o' if spec.alternate => b"0",
        b'x' if spec.alternate && value != 0 => b"0x",
        b'X' if spec.alternate && value != 0 => b"0X",
        _ => b"",
    };
    let digits = match spec.precision {
        Some(0) if value == 0 => String::new(),
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    };
    pad(spec, out, prefix, digits.as_bytes(), spec.zero && spec.precision.is_none());
}

fn float(spec: &Spec, out: &mut Vec<u8>, value: f64) {
    let upper = spec.conversion.is_ascii_uppercase();
    let magnitude = value.abs();
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        match spec.conversion.to_ascii_lowercase() {
            b'e' => exponent(magnitude, spec.precision.unwrap_or(6)),
            b'g' => general(magnitude, spec.precision.unwrap_or(6).max(1), spec.alternate),
            b'a' => hexadecimal(magnitude),
            _ => format!("{magnitude:.*}", spec.precision.unwrap_or(6)),
        }
    };
    let text = if upper { text.to_uppercase() } else { text };
    let negative = value.is_sign_negative() && !value.is_nan();
    pad(spec, out, sign(spec, negative), text.as_bytes(), spec.zero && value.is_finite());
}

/// `d.ddde+XX`, as C writes it.
fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

fn general(value: f64, precision: usize, alternate: bool) -> String {
    let scientific = exponent(value, precision - 1);
    let power: i32 =
        scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let fixed = power >= -4 && power < precision as i32;
    let text = if fixed {
        let decimals = (precision as i32 - 1 - power).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        scientific
    };
    if alternate || !text.contains('.') {
        return text;
    }
    let (mantissa, tail) = match text.split_once('e') {
        Some((mantissa, tail)) => (mantissa, format!("e{tail}")),
        None => (text.as_str(), String::new()),
    };
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{mantissa}{tail}")
}

/// `0x1.8p+1`, as C writes it without a precision.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let fraction = bits & 0x000f_ffff_ffff_ffff;
    let biased = (bits >> 52 & 0x7ff) as i32;
    let (lead, power) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, biased - 1023),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{power:+}")
}

fn pad(spec: &Spec, out: &mut Vec<u8>, prefix: &[u8], text: &[u8], zeros: bool) {
    let width = spec.width.unwrap_or(0);
    let missing = width.saturating_sub(prefix.len() + text.len());
    if spec.minus {
        out.extend_from_slice(prefix);
        out.extend_from_slice(text);
        out.resize(out.len() + missing, b' ');
    } else if zeros {
        out.extend_from_slice(prefix);
        out.resize(out.len() + missing, b'0');
        out.extend_from_slice(text);
    } else {
        out.resize(out.len() + missing, b' ');
        out.extend_from_slice(prefix);
        out.extend_from_slice(text);
    }
}

#[cfg(test)]
mod tests {
    use super::format;

    fn printed(pattern: &str, arguments: &[u64]) -> String {
        let mut out = Vec::new();
        let mut arguments = arguments.iter();
        format(pattern.as_bytes(), &mut out, &mut |_, text| {
            let value = *arguments.next().expect("an argument for each conversion");
            (value, if text { b"abc".to_vec() } else { Vec::new() })
        });
        String::from_utf8(out).expect("ASCII")
    }

    /// Expected texts are those of the C standard's examples and of glibc.
    #[test]
    fn conversions_are_those_of_c() {
        let bits = |value: f64| value.to_bits();
        assert_eq!(
            printed("%d %5d|%-5d|%05d", &[1, 2, 3, u64::from(-4i32 as u32)]),
            "1     2|3    |-0004"
        );
        assert_eq!(printed("%u %x %#X %o", &[4_000_000_000, 255, 255, 8]), "4000000000 ff 0XFF 10");
        assert_eq!(printed("%llu %lld", &[u64::MAX, -1i64 as u64]), "18446744073709551615 -1");
        assert_eq!(printed("%s|%6s|%.2s", &[0, 0, 0]), "abc|   abc|ab");
        assert_eq!(
            printed("%f %.2f %8.3f", &[bits(1.5), bits(2.345), bits(-1.0)]),
            "1.500000 2.35   -1.000"
        );
        assert_eq!(
            printed("%e %g %g %g", &[bits(12345.0), bits(0.0001), bits(1e10), bits(100.0)]),
            "1.234500e+04 0.0001 1e+10 100"
        );
        assert_eq!(printed("%c%%%c", &[65, 66]), "A%B");
        assert_eq!(printed("%a", &[bits(3.0)]), "0x1.8p+1");
        assert_eq!(printed("%*d", &[4, 7]), "   7");
        assert_eq!(printed("%f %F", &[bits(f64::NAN), bits(f64::NEG_INFINITY)]), "nan -INF");
    }

    #[test]
    fn what_is_no_conversion_stays() {
        assert_eq!(printed("100%!", &[]), "100%!");
        assert_eq!(printed("tail %", &[]), "tail %");
    }
}
