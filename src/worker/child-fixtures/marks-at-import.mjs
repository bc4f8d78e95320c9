import { writeFileSync } from 'node:fs';
import { defineTask } from '../../../dist/tasks/definition.js';

// Tells whether any task code was run.
writeFileSync(process.env.HOLDFAST_TEST_MARK, '');

export const marked = defineTask({ name: 'marked', run: () => null });
