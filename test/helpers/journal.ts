export { openJournal, readJournal, type JournalLine, type JournalSubject } from './journal-file.js';
export { assertJournal, checkJournal } from './check-journal.js';
