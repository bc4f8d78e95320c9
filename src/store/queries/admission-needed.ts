import type { Run } from '../run.js';
import type { AdmissionNeed } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './admission-needed.sql');

export async function admissionNeeded(run: Run, epoch: string): Promise<AdmissionNeed> {
  const [need] = await run<AdmissionNeed>(sql, [epoch]);
  return need ?? { lanes: [], admitted: [], due: false, takeOuts: false, rollbacksOver: false, free: null };
}
