import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Beyond any message that a child sends on purpose: each of its values is limited. */
const longestLine = 256 * 1024 * 1024;

export interface ChildPipe<Out> {
  /** Never throws: after the other end is gone nothing is sent. */
  send(message: Out): void;
  close(): void;
}

/**
 * Messages over the pipe between a child and its parent, one JSON text a line. It is a descriptor of its own,
 * so what a handler prints, or sends on channels of its own, cannot mix with it. `onBroken` is called once where
 * something else than messages arrives, and nothing after it is read. Not JSON, or `onMessage` throws: it comes to
 * the same, because what cannot be acted on was no message.
 */
export function childPipe<Out>(
  stream: Duplex,
  onMessage: (message: unknown) => void,
  onBroken: () => void,
): ChildPipe<Out> {
  const decoder = new StringDecoder('utf8');
  let rest: string[] = [];
  let length = 0;
  let broken = false;
  function fail(): void {
    broken = true;
    rest = [];
    onBroken();
  }
  function line(text: string): void {
    try {
      onMessage(JSON.parse(text));
    } catch {
      fail();
    }
  }
  stream.on('data', (chunk: Buffer) => {
    const lines = decoder.write(chunk).split('\n');
    const last = lines.pop() ?? '';
    for (const text of lines) {
      if (broken) return;
      line(rest.join('') + text);
      [rest, length] = [[], 0];
    }
    rest.push(last);
    length += last.length;
    if (length > longestLine && !broken) fail();
  });
  // 'close' follows, and whoever needs to know listens to that.
  stream.on('error', () => {});
  return {
    send: (message) => {
      if (stream.writable) stream.write(`${JSON.stringify(message)}\n`);
    },
    close: () => void stream.destroy(),
  };
}
