import { describe, expect, it } from 'vitest';
import { textFields, textTable } from './text-table.js';

describe('textTable', () => {
  it('aligns columns under their headings, without spaces at the ends of lines', () => {
    const text = textTable(
      [{ heading: 'NAME' }, { heading: 'N', align: 'right' }, { heading: 'LAST' }],
      [
        ['a', '5', ''],
        ['longer', '12345', 'x'],
      ],
    );
    expect(text).toBe('NAME        N  LAST\na           5\nlonger  12345  x\n');
  });

  it('shows control characters as escapes, so that no name can move the cursor', () => {
    expect(textTable([{ heading: 'R' }], [['a\u001b[2Jb\nc']])).toBe('R\na\\u001b[2Jb\\u000ac\n');
    expect(textFields([['name', 'a\r\u202eb']])).toBe('name  a\\u000d\\u202eb\n');
  });
});
