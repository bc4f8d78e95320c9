import { readFileSync } from 'node:fs';

/**
 * A fenced block whose info string says `run`, such as "ts run file=tasks.ts". The blocks of one page are one
 * story: they run in order, in one folder.
 */
export interface Snippet {
  language: string;
  text: string;
  /** Where the block begins, for messages: `README.md:12`. */
  at: string;
  /** `file=`: the block is written there, not run. */
  file: string | null;
  /** `background`: a command that goes on until the story ends. */
  background: boolean;
  /** The text block after it that says `output`: what stdout must be; `…` stands for any characters of a line. */
  output: string | null;
}

/** The runnable snippets of a Markdown page, in order. */
export function readSnippets(path: string, name: string): Snippet[] {
  const snippets: Snippet[] = [];
  const page = readFileSync(path, 'utf8');
  for (const match of page.matchAll(/^```(\w+)[ \t]+([^\n]+)\n([^]*?)^```$/gm)) {
    const [, language = '', info = '', text = ''] = match;
    const words = info.trim().split(/\s+/);
    const at = `${name}:${page.slice(0, match.index).split('\n').length}`;
    if (words[0] === 'output') setOutput(snippets.at(-1), text, at);
    else if (words[0] === 'run') snippets.push(snippetOf(language, words.slice(1), text, at));
    else throw new Error(`${at}: "${info}" is neither "run …" nor "output".`);
  }
  return snippets;
}

function setOutput(snippet: Snippet | undefined, text: string, at: string): void {
  if (snippet === undefined) throw new Error(`${at}: an output without a snippet before it.`);
  snippet.output = text;
}

function snippetOf(language: string, words: string[], text: string, at: string): Snippet {
  const snippet: Snippet = { language, text, at, file: null, background: false, output: null };
  for (const word of words) {
    if (word.startsWith('file=')) snippet.file = word.slice('file='.length);
    else if (word === 'background') snippet.background = true;
    else throw new Error(`${at}: "${word}" is not an option of a snippet.`);
  }
  return snippet;
}

/** The expected output as a pattern for the whole of stdout, but for blank space at its end. */
export function outputPattern(output: string): RegExp {
  const lines = output.trimEnd().split('\n');
  const escaped = lines.map((line) => line.split('…').map(escape).join('.*'));
  return new RegExp(`^${escaped.join('\n')}\\s*$`);
}

function escape(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
