//! Messages on standard input and output. A payload that is no message is answered with a parse
//! error, and the next one is read: its length was known. A header that is none ends it, because
//! then no one knows where the next message begins.

use crossbeam_channel::{Receiver, Sender, bounded};
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::json;
use std::io::{self, BufRead, Error, ErrorKind, Read, Write};
use std::thread::JoinHandle;

/// The threads that read and write.
pub struct Pipes {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Pipes {
    /// Waits until both have ended.
    pub fn join(self) -> io::Result<()> {
        let ended = |thread: JoinHandle<io::Result<()>>| match thread.join() {
            Ok(ended) => ended,
            Err(_) => Err(Error::other("a thread has panicked")),
        };
        ended(self.reader)?;
        ended(self.writer)
    }
}

/// A connection with the client on standard input and output.
pub fn connect() -> io::Result<(Connection, Pipes)> {
    let (sender, to_write) = bounded(0);
    let (read, receiver) = bounded(0);
    let writer = named("writer").spawn(move || write_all(&to_write))?;
    let reader = named("reader").spawn(move || read_all(&mut io::stdin().lock(), &read))?;
    Ok((Connection { sender, receiver }, Pipes { reader, writer }))
}

fn named(name: &str) -> std::thread::Builder {
    std::thread::Builder::new().name(format!("lsp {name}"))
}

fn write_all(messages: &Receiver<Message>) -> io::Result<()> {
    // Locked for one message at a time: the reader writes too.
    messages.iter().try_for_each(|message| message.write(&mut io::stdout().lock()))
}

fn read_all(input: &mut impl BufRead, to: &Sender<Message>) -> io::Result<()> {
    while let Some(payload) = payload(input)? {
        let message = match serde_json::from_slice::<Message>(&payload) {
            Ok(message) => message,
            Err(error) => {
                refuse(&error.to_string())?;
                continue;
            }
        };
        let is_exit = matches!(&message, Message::Notification(of) if of.method == "exit");
        if to.send(message).is_err() || is_exit {
            break;
        }
    }
    Ok(())
}

/// Answers what cannot be read. No one knows the number of the request, if it was one.
fn refuse(why: &str) -> io::Result<()> {
    let code = ErrorCode::ParseError as i32;
    let answer = json!({
        "jsonrpc": "2.0", "id": null,
        "error": { "code": code, "message": format!("this is no message: {why}") },
    });
    let text = answer.to_string();
    let mut out = io::stdout().lock();
    write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    out.flush()
}

/// The bytes of the next message; nothing at the end.
fn payload(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let wrong = |what: &str| Error::new(ErrorKind::InvalidData, what.to_owned());
    let mut length: Option<u64> = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix("\r\n") else { return Err(wrong("no header")) };
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").ok_or_else(|| wrong("no header"))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.parse().map_err(|_| wrong("the length is no number"))?);
        }
    }
    let length = length.ok_or_else(|| wrong("no Content-Length"))?;
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(read) if read == length => Ok(Some(bytes)),
        _ => Err(Error::from(ErrorKind::UnexpectedEof)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_end_where_their_length_says() {
        let mut input = &b"Content-Length: 2\r\nOther: x\r\n\r\n{,content-length: 0\r\n\r\n"[..];
        assert_eq!(payload(&mut input).ok(), Some(Some(b"{,".to_vec())));
        assert_eq!(payload(&mut input).ok(), Some(Some(Vec::new())));
        assert_eq!(payload(&mut input).ok(), Some(None));
        for wrong in
            ["Content-Length: x\r\n\r\n", "no\r\n\r\n", "\r\n", "Content-Length: 9\r\n\r\n{"]
        {
            assert!(payload(&mut wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
