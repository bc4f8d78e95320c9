import { describeLockTable } from '../lock-table.conformance.js';
import { openMemory } from './open-memory.conformance.js';

describeLockTable('memory', openMemory);
