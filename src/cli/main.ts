#!/usr/bin/env node
import { createProgram } from './program.js';
import { runProgram } from './run-program.js';

// The status is set and not forced, so that all output is written before the process ends.
process.exitCode = await runProgram(createProgram(), process.argv);
