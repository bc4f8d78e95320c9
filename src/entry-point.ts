/**
 * The URL of a compiled file that a thread or a child process starts from. Node runs JavaScript only, so a
 * source file under the test runner points at its compiled twin in dist/.
 */
export function compiledFile(importMetaUrl: string, relative: string): URL {
  const url = new URL(relative, importMetaUrl);
  if (!importMetaUrl.endsWith('.ts')) return url;
  return new URL(url.href.replace(/\/src\/(?!.*\/src\/)/, '/dist/'));
}
