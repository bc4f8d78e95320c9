import type { Holdfast, TaskPage } from 'holdfast';

/** The ids of the tasks with this name that have not ended. */
export async function unsettledTasks(hf: Holdfast, name: string): Promise<{ id: string }[]> {
  const found: { id: string }[] = [];
  let after: string | null = null;
  do {
    const page: TaskPage = await hf.tasks.list({
      name,
      state: ['waiting', 'running', 'canceling', 'rolling_back'],
      after,
    });
    found.push(...page.tasks);
    after = page.next;
  } while (after !== null);
  return found;
}
