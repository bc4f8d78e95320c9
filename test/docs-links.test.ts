import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './helpers/installed-package.js';

const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: projectRoot,
  encoding: 'utf8',
});

test.each(pages.trim().split('\n'))('the links of %s lead somewhere', (page) => {
  const text = readFileSync(join(projectRoot, page), 'utf8').replace(/^```[^]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link]) => link ?? '');
  const broken = links.filter((link) => !leadsSomewhere(page, link));
  expect(broken).toEqual([]);
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? join(projectRoot, page) : join(projectRoot, dirname(page), path);
  if (!existsSync(target)) return false;
  return heading === undefined || headingsOf(readFileSync(target, 'utf8')).includes(heading);
}

/** As they are anchored where Markdown is shown: lower case, hyphens for spaces, no punctuation. */
function headingsOf(markdown: string): string[] {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, text]) => text ?? '');
  return headings.map((text) =>
    text
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  );
}
