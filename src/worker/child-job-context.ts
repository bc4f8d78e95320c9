import type { TaskContext, TaskDefinition } from '../tasks/definition.js';
import type { DispatchedTask, HandlerDispatchOptions } from '../tasks/dispatch/dispatch-signature.js';
import type { LoadedDefinitions } from '../tasks/dispatch/prepare-task.js';
import { prepareTask } from '../tasks/dispatch/prepare-task.js';
import { storableJson } from '../tasks/storable-json.js';
import { errorOf } from './child-error.js';
import { childLogger } from './child-logger.js';
import type { Answer, FromChild, JobMessage } from './child-messages.js';

/** One job as its child has it: the context that its handler is given, and what the parent says meanwhile. */
export class ChildJobContext {
  readonly context: TaskContext;
  readonly #message: JobMessage;
  readonly #loaded: LoadedDefinitions;
  readonly #send: (message: FromChild) => void;
  readonly #abort = new AbortController();
  readonly #questions = new Map<number, (answer: Answer) => void>();
  #asked = 0;

  constructor(message: JobMessage, loaded: LoadedDefinitions, send: (message: FromChild) => void) {
    this.#message = message;
    this.#loaded = loaded;
    this.#send = send;
    const { job, context } = message;
    this.context = {
      ...context,
      signal: this.#abort.signal,
      progress: (update) => {
        send({ type: 'progress', job, value: JSON.parse(storableJson(update, 'Progress')) });
      },
      dispatch: (target: TaskDefinition | string, payload?: unknown, options: HandlerDispatchOptions = {}) =>
        this.#dispatch(target, payload, options),
      log: childLogger((line) => send({ type: 'log', job, line })),
    };
  }

  abort(reason: string): void {
    this.#abort.abort(new DOMException(reason, 'AbortError'));
  }

  answer(id: number, answer: Answer): void {
    this.#questions.get(id)?.(answer);
    this.#questions.delete(id);
  }

  async #dispatch(
    target: TaskDefinition | string,
    payload: unknown,
    options: HandlerDispatchOptions,
  ): Promise<DispatchedTask> {
    const { job, context } = this.#message;
    const from = { loaded: this.#loaded, parent: context.task.id };
    const prepared = await prepareTask(target, payload, options, from);
    const id = ++this.#asked;
    const answer = await new Promise<Answer>((resolve) => {
      this.#questions.set(id, resolve);
      this.#send({ type: 'dispatch', job, id, prepared });
    });
    if (answer.ok) return answer.task;
    throw errorOf(answer.error);
  }
}
