//! A bot in Rust, without crates: any legal action, drawn from the seed of the decision alone, so that games can be repeated.
use std::io::{self, BufRead, Write};

/// Returns where the JSON value at the beginning of `s` ends: at a comma, a colon or the bracket around it.
fn end(s: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (i, c) in s.bytes().enumerate() {
        match c {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b',' | b':' | b']' | b'}' if depth == 0 => return i,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    s.len()
}

/// Returns the items of a JSON array; of an object its keys and values in turn.
fn items(s: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), s.trim().get(1..).unwrap_or(""));
    while !rest.trim_matches([' ', ']', '}']).is_empty() {
        let at = end(rest);
        found.push(rest[..at].trim());
        rest = rest.get(at + 1..).unwrap_or("");
    }
    found
}

/// Returns the value of a key of a JSON object; an empty text if it has none.
fn get<'a>(object: &'a str, key: &str) -> &'a str {
    items(object).chunks(2).find(|pair| pair[0].trim_matches('"') == key).and_then(|pair| pair.get(1)).unwrap_or(&"")
}

/// Returns a legal action. Seeds are uniform numbers, so the remainder is one, too.
fn choose(decision: &str) -> &str {
    let legal = items(get(decision, "legal"));
    legal[get(decision, "seed").parse::<usize>().expect("a seed") % legal.len()]
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let id = get(&line, "id");
        match get(&line, "type") {
            "\"hello\"" => println!(r#"{{"type": "ready", "protocol": 1, "id": {id}, "name": "seeded in Rust", "batch": 4096}}"#),
            "\"turn\"" => {
                let actions: Vec<&str> = items(get(&line, "decisions")).into_iter().map(choose).collect();
                println!(r#"{{"type": "actions", "id": {id}, "actions": [{}]}}"#, actions.join(", "));
            }
            "\"quit\"" => break,
            _ => {}
        }
        io::stdout().flush()?;
    }
    Ok(())
}
