//! The loop: messages of the client in, answers out. Mistakes are published when no message waits,
//! so that fast typing is not answered letter by letter.

mod requests;

use crate::document::{Document, language};
use crate::lens::{CANCEL, Finished, Lens, VERIFY, Verifier};
use crate::mistakes;
use crossbeam_channel::{Receiver, Sender, select, unbounded};
use lsp_server::{
    Connection, ErrorCode, Message, Notification, ProtocolError, Request, RequestId, Response,
};
use lsp_types::notification::{self as notify, Notification as _};
use lsp_types::request::{self as ask, Request as _};
use lsp_types::{
    CodeLensOptions, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, ExecuteCommandOptions, ExecuteCommandParams,
    HoverProviderCapability, InitializeParams, LogMessageParams, MessageType, OneOf,
    PublishDiagnosticsParams, RenameOptions, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind, Uri,
};
use serde_json::{Value as Json, json};
use std::collections::{BTreeSet, HashMap};
use thiserror::Error;

/// Why serving ended before its time.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The client does not keep to the protocol.
    #[error("the client does not speak the language server protocol: {0}")]
    Protocol(#[from] ProtocolError),
    /// A pipe broke.
    #[error("cannot speak with the client")]
    Pipe(#[source] std::io::Error),
    /// What it says about itself cannot be read.
    #[error("the client's `initialize` cannot be read")]
    Initialize(#[source] serde_json::Error),
}

/// Serves one client until it says `exit` or goes away.
pub fn serve(connection: Connection, verifier: Verifier) -> Result<(), ServeError> {
    let told = connection.initialize(json!(capabilities()))?;
    let client: InitializeParams = serde_json::from_value(told).map_err(ServeError::Initialize)?;
    let workspace = client.capabilities.workspace;
    let refreshes =
        workspace.and_then(|workspace| workspace.code_lens?.refresh_support).unwrap_or(false);
    let (found, finished) = unbounded();
    let mut server = Server {
        sender: connection.sender.clone(),
        verifier,
        found,
        refreshes,
        documents: HashMap::new(),
        unpublished: BTreeSet::new(),
        requests: 0,
    };
    server.run(&connection, &finished)
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![VERIFY.to_owned(), CANCEL.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// A document and what is known about it.
struct Open {
    uri: Uri,
    document: Document,
    lens: Lens,
}

/// An answer, or why there is none.
type Answer = Result<Json, Refusal>;

/// Why there is no answer.
type Refusal = (ErrorCode, String);

struct Server {
    sender: Sender<Message>,
    verifier: Verifier,
    found: Sender<Finished>,
    /// Whether the client can be asked to draw its lenses again.
    refreshes: bool,
    documents: HashMap<String, Open>,
    /// Documents whose mistakes are not published yet.
    unpublished: BTreeSet<String>,
    /// Counts our requests and the verifications.
    requests: u64,
}

impl Server {
    fn run(
        &mut self,
        connection: &Connection,
        finished: &Receiver<Finished>,
    ) -> Result<(), ServeError> {
        loop {
            if connection.receiver.is_empty() {
                self.publish();
            }
            select! {
                recv(connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => {
                        if connection.handle_shutdown(&request)? {
                            return Ok(());
                        }
                        self.request(request);
                    }
                    Ok(Message::Notification(notification)) => {
                        if notification.method == notify::Exit::METHOD {
                            return Ok(());
                        }
                        self.notification(notification);
                    }
                    Ok(Message::Response(_)) => {}
                    Err(_) => return Ok(()),
                },
                recv(finished) -> found => if let Ok(found) = found {
                    self.finished(&found);
                },
            }
        }
    }

    fn notification(&mut self, notification: Notification) {
        // A notification has no answer: one that cannot be read changes nothing.
        let Notification { method, params } = notification;
        match method.as_str() {
            notify::DidOpenTextDocument::METHOD => {
                if let Ok(params) = serde_json::from_value(params) {
                    self.open(params);
                }
            }
            notify::DidChangeTextDocument::METHOD => {
                if let Ok(params) = serde_json::from_value(params) {
                    self.change(params);
                }
            }
            notify::DidCloseTextDocument::METHOD => {
                if let Ok(params) = serde_json::from_value(params) {
                    self.close(&params);
                }
            }
            notify::Cancel::METHOD => {
                let id = &params["id"];
                let number = id.as_i64().and_then(|id| i32::try_from(id).ok());
                let word = id.as_str().map(|id| RequestId::from(id.to_owned()));
                if let Some(id) = number.map(RequestId::from).or(word) {
                    self.cancel(|_, request| *request == id);
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let opened = params.text_document;
        let language = language(&opened.uri, &opened.language_id);
        let document = Document::new(opened.text, language, opened.version);
        let key = opened.uri.as_str().to_owned();
        self.cancel(|uri, _| uri == key);
        self.documents.insert(key.clone(), Open { uri: opened.uri, document, lens: Lens::Idle });
        self.unpublished.insert(key);
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let key = params.text_document.uri.as_str().to_owned();
        self.cancel(|uri, _| uri == key);
        let Some(open) = self.documents.get_mut(&key) else { return };
        for change in params.content_changes {
            open.document.change(change);
        }
        open.document.version = params.text_document.version;
        let was_idle = matches!(std::mem::take(&mut open.lens), Lens::Idle);
        self.unpublished.insert(key);
        if !was_idle {
            self.refresh();
        }
    }

    fn close(&mut self, params: &DidCloseTextDocumentParams) {
        let key = params.text_document.uri.as_str();
        self.cancel(|uri, _| uri == key);
        self.unpublished.remove(key);
        if let Some(closed) = self.documents.remove(key) {
            let nothing = PublishDiagnosticsParams::new(closed.uri, Vec::new(), None);
            self.notify::<notify::PublishDiagnostics>(nothing);
        }
    }

    fn publish(&mut self) {
        for key in std::mem::take(&mut self.unpublished) {
            let Some(Open { uri, document, .. }) = self.documents.get(&key) else { continue };
            let found = mistakes::diagnostics(document, uri);
            let params = PublishDiagnosticsParams::new(uri.clone(), found, Some(document.version));
            self.notify::<notify::PublishDiagnostics>(params);
        }
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let answer = match method.as_str() {
            ask::HoverRequest::METHOD => {
                read::<ask::HoverRequest>(params).and_then(|params| self.hover(params))
            }
            ask::GotoDefinition::METHOD => {
                read::<ask::GotoDefinition>(params).and_then(|params| self.definition(params))
            }
            ask::References::METHOD => {
                read::<ask::References>(params).and_then(|params| self.references(params))
            }
            ask::PrepareRenameRequest::METHOD => read::<ask::PrepareRenameRequest>(params)
                .and_then(|params| self.prepare_rename(params)),
            ask::Rename::METHOD => {
                read::<ask::Rename>(params).and_then(|params| self.rename(params))
            }
            ask::DocumentSymbolRequest::METHOD => {
                read::<ask::DocumentSymbolRequest>(params).and_then(|params| self.symbols(params))
            }
            ask::Formatting::METHOD => {
                read::<ask::Formatting>(params).and_then(|params| self.format(params))
            }
            ask::CodeLensRequest::METHOD => {
                read::<ask::CodeLensRequest>(params).and_then(|params| self.lenses(params))
            }
            ask::ExecuteCommand::METHOD => match read::<ask::ExecuteCommand>(params) {
                Ok(params) => match self.execute(&id, &params) {
                    Some(answer) => answer,
                    // The answer is the verdict, and comes when there is one.
                    None => return,
                },
                Err(error) => Err(error),
            },
            _ => Err((ErrorCode::MethodNotFound, format!("`{method}` is not served"))),
        };
        self.respond(id, answer);
    }

    fn respond(&self, id: RequestId, answer: Answer) {
        let response = match answer {
            Ok(result) => Response::new_ok(id, result),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        };
        // A client that has gone away needs no answer; the loop will notice.
        let _ = self.sender.send(response.into());
    }

    fn notify<N: notify::Notification>(&self, params: N::Params) {
        let notification = Notification::new(N::METHOD.to_owned(), params);
        let _ = self.sender.send(notification.into());
    }

    /// Executes a command; the answer to `verify` comes later.
    fn execute(&mut self, id: &RequestId, params: &ExecuteCommandParams) -> Option<Answer> {
        let key = params.arguments.first().and_then(Json::as_str).unwrap_or_default();
        if !self.documents.contains_key(key) {
            return Some(Err((ErrorCode::InvalidParams, format!("`{key}` is not open"))));
        }
        self.cancel(|uri, _| uri == key);
        match params.command.as_str() {
            CANCEL => Some(Ok(Json::Null)),
            VERIFY => self.verify(id, key).err().map(|error| {
                let what = format!("cannot start `{}`: {error}", self.verifier.program.display());
                Err((ErrorCode::RequestFailed, what))
            }),
            other => Some(Err((ErrorCode::InvalidParams, format!("there is no `{other}`")))),
        }
    }

    fn verify(&mut self, id: &RequestId, key: &str) -> std::io::Result<()> {
        self.requests += 1;
        if let Some(open) = self.documents.get_mut(key) {
            let subject = (key.to_owned(), open.document.text.as_str(), open.document.language);
            let job =
                self.verifier.start(subject, (self.requests, id.clone()), self.found.clone())?;
            open.lens = Lens::Running(job);
        }
        self.refresh();
        Ok(())
    }

    /// Ends the verifications that are meant; their requests are answered so.
    fn cancel(&mut self, is_meant: impl Fn(&str, &RequestId) -> bool) {
        let mut ended = Vec::new();
        for (key, open) in &mut self.documents {
            if let Lens::Running(job) = &open.lens
                && is_meant(key, &job.request)
            {
                ended.push(job.request.clone());
                open.lens = Lens::Idle;
            }
        }
        for id in &ended {
            let cancelled =
                (ErrorCode::RequestCanceled, "the verification was cancelled".to_owned());
            self.respond(id.clone(), Err(cancelled));
        }
        if !ended.is_empty() {
            self.refresh();
        }
    }

    fn finished(&mut self, found: &Finished) {
        let Some(open) = self.documents.get_mut(&found.uri) else { return };
        let id = match &open.lens {
            // One that was cancelled ends too, and says nothing any more.
            Lens::Running(job) if job.number == found.number => job.request.clone(),
            _ => return,
        };
        let verdict = found.verdict();
        open.lens = Lens::Done(verdict.clone());
        self.respond(id, Ok(json!({ "verdict": verdict, "text": found.output })));
        let message = found.output.clone();
        self.notify::<notify::LogMessage>(LogMessageParams { typ: MessageType::INFO, message });
        self.refresh();
    }

    /// Asks the client to draw its lenses again.
    fn refresh(&mut self) {
        if self.refreshes {
            self.requests += 1;
            let id = RequestId::from(format!("lens {}", self.requests));
            let request = Request::new(id, ask::CodeLensRefresh::METHOD.to_owned(), Json::Null);
            let _ = self.sender.send(request.into());
        }
    }
}

fn read<R: ask::Request>(params: Json) -> Result<R::Params, Refusal> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}
