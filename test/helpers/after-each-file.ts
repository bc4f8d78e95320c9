import { afterAll } from 'vitest';
import { killStarted } from '../cli/run-holdfast.js';

// One process runs many files, so what a file has left ends with the file.
afterAll(killStarted);
