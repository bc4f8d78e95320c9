export {
  openJournal,
  readJournal,
  type Journal,
  type JournalLine,
  type JournalSubject,
} from './journal-file.js';
export { assertJournal, checkJournal, type JournalReport, type JournalRules } from './check-journal.js';
