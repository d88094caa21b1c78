// Starts `linchpin lsp` and connects the editor with it.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const settings = workspace.getConfiguration("linchpin");
  const server = {
    command: settings.get("path"),
    args: ["lsp", "--time-limit", settings.get("timeLimit")],
  };
  const documents = ["lin", "subop", "csp"].map((language) => ({ language }));
  client = new LanguageClient("linchpin", "Linchpin", server, { documentSelector: documents });
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
