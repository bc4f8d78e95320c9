/**
 * Writes a part of the result to stdout and resolves when it is written. That the reader has gone away
 * (`holdfast tasks list | head -1`) is no error: it has seen what it wanted.
 */
export async function writeResult(text: string): Promise<void> {
  await write(process.stdout, text);
}

/** The result as one JSON document on one line. */
export async function writeJson(document: unknown): Promise<void> {
  await writeResult(`${JSON.stringify(document)}\n`);
}

/** Writes to stderr: what is meant for the person at the terminal and is no part of the result. */
export async function writeNote(text: string): Promise<void> {
  await write(process.stderr, text);
}

async function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream.write(text, (error) => {
      if (error === undefined || error === null || isReaderGone(error)) resolve();
      else reject(error);
    });
  });
}

/** The stream emits the error of a write as well as handing it to the callback; unheard, it ends the process. */
function ignoreReaderGone(error: Error): void {
  if (!isReaderGone(error)) throw error;
}

function isReaderGone(error: Error): boolean {
  return 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
}

process.stdout.on('error', ignoreReaderGone);
process.stderr.on('error', ignoreReaderGone);
