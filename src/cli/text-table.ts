import { printable } from './printable.js';

export interface Column {
  heading: string;
  align?: 'left' | 'right';
}

/** Rows as lines with aligned columns under their headings. Ends with a newline. */
export function textTable(columns: Column[], rows: string[][]): string {
  const cells = rows.map((row) => row.map(printable));
  const widths = columns.map(({ heading }, at) =>
    Math.max(heading.length, ...cells.map((row) => row[at]?.length ?? 0)),
  );
  const lines = [columns.map(({ heading }) => heading), ...cells].map((row) => line(row, columns, widths));
  return `${lines.join('\n')}\n`;
}

/** Names and values under each other. Ends with a newline. */
export function textFields(fields: [name: string, value: string][]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
}

function line(row: string[], columns: Column[], widths: number[]): string {
  const padded = columns.map(({ align }, at) => {
    const cell = row[at] ?? '';
    const width = widths[at] ?? 0;
    return align === 'right' ? cell.padStart(width) : cell.padEnd(width);
  });
  return padded.join('  ').trimEnd();
}
