//! Running another program to its end and keeping the end of what it said for the error.

use std::process::{Command, Output, Stdio};

use crate::{Error, Result};

/// Enough of a program's output to see why it failed; the last lines are the telling ones.
const OUTPUT_SHOWN_BYTES: usize = 3000;

/// Runs `command` without standard input and returns what it wrote to standard output.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let program = name(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| Error::Spawn { program: program.clone(), source })?;
    check(program, &output)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// An error unless the program ended with status 0.
pub(crate) fn check(program: String, output: &Output) -> Result<()> {
    if output.status.success() {
        return Ok(());
    }
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Err(Error::Program { program, status: output.status.to_string(), output: tail(&text) })
}

/// The last bytes of a text, beginning at a line.
pub(crate) fn tail(text: &str) -> String {
    let text = text.trim_end();
    let mut start = text.len().saturating_sub(OUTPUT_SHOWN_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let shown = &text[start..];
    match shown.find('\n') {
        Some(end_of_cut_line) if start > 0 => shown[end_of_cut_line + 1..].to_owned(),
        _ => shown.to_owned(),
    }
}

/// The program's file name, for messages.
pub(crate) fn name(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}
