#!/usr/bin/env node
import { createProgram } from './program.js';
import { runProgram } from './run-program.js';

// All output is written by then. What a task file keeps open (a timer, a connection) must not keep the command from ending.
process.exit(await runProgram(createProgram(), process.argv));
