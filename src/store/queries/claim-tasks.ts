import type { Run } from '../run.js';
import type { Claim, ClaimOutcome } from '../store.js';
import { sqlFile } from '../sql-file.js';
import { taskRow, type StoredTask } from '../task-row.js';

const sql = sqlFile(import.meta.url, './claim-tasks.sql');

interface ClaimRow extends StoredTask {
  answer: 'reaped' | 'epoch' | 'claimed' | 'runs-here' | 'refused';
  claim_id: string;
  claim_entry: number;
}

export async function claimTasks(
  run: Run,
  { worker, epoch, claims }: { worker: string; epoch: string; claims: Claim[] },
): Promise<ClaimOutcome> {
  const outcome: ClaimOutcome & { status: 'claimed' } = { status: 'claimed', claimed: [], refused: [] };
  if (claims.length === 0) return outcome;
  const rows = await run<ClaimRow>(sql, [
    worker,
    epoch,
    claims.map(({ task }) => task),
    claims.map(({ entry }) => entry),
    claims.map(({ fence }) => fence),
  ]);
  for (const row of rows) {
    if (row.answer === 'reaped' || row.answer === 'epoch') return { status: row.answer };
    if (row.answer === 'claimed') outcome.claimed.push(taskRow(row));
    else {
      const runsHere = row.answer === 'runs-here';
      outcome.refused.push({ task: row.claim_id, entry: row.claim_entry, runsHere });
    }
  }
  return outcome;
}
