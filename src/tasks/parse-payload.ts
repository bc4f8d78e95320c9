import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { TaskDefinition } from './definition.js';

/** `problems`: one line for each part that the schema refused, its path first. */
export type ParsedPayload<Output> = { parsed: true; payload: Output } | { parsed: false; problems: string };

/** The payload as the definition's schema makes it; as it came where the definition has none. */
export async function parsePayload<Output>(
  definition: Pick<TaskDefinition<unknown, Output>, 'payload'>,
  payload: unknown,
): Promise<ParsedPayload<Output>> {
  if (definition.payload === null) return { parsed: true, payload: payload as Output };
  const result = await definition.payload['~standard'].validate(payload);
  if (result.issues === undefined) return { parsed: true, payload: result.value };
  return { parsed: false, problems: result.issues.map(issueText).join('; ') };
}

function issueText(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step));
  return path.length === 0 ? issue.message : `${path.join('.')}: ${issue.message}`;
}
