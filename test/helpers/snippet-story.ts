import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { outputPattern, type Snippet } from './docs-snippets.js';
import { projectRoot } from './installed-package.js';
import { waitUntil } from './wait-until.js';

export interface Story {
  /** In it or above it the package is installed. */
  dir: string;
  env: NodeJS.ProcessEnv;
  /** Its `public` and `holdfast` schemas belong to the story. */
  databaseUrl: string;
  redisUrl: string;
}

const limitMs = 150_000;

/** Runs the snippets of one page as its reader would: in order, in the folder of a project of his own. */
export async function runStory(story: Story, snippets: Snippet[]): Promise<void> {
  const background: ChildProcess[] = [];
  try {
    for (const [index, snippet] of snippets.entries()) {
      const stdout = await runSnippet(story, snippet, index, background);
      if (snippet.output === null || outputPattern(snippet.output).test(stdout)) continue;
      throw new Error(`${snippet.at} printed:\n${stdout}\nand not:\n${snippet.output}`);
    }
  } finally {
    await Promise.all(background.map(stop));
  }
}

async function runSnippet(
  story: Story,
  snippet: Snippet,
  index: number,
  background: ChildProcess[],
): Promise<string> {
  if (snippet.language === 'sql') return runSql(story, snippet);
  if (snippet.language === 'sh' && snippet.background) {
    background.push(await startInBackground(story, snippet));
    return '';
  }
  if (snippet.language === 'sh') return execute(story, snippet, 'sh', ['-e', '-c', snippet.text]);
  const file = snippet.file ?? `snippet-${index}.${snippet.language}`;
  writeFileSync(join(story.dir, file), snippet.text);
  if (snippet.language === 'ts') await compile(story, snippet, file);
  if (snippet.file !== null) return '';
  return execute(story, snippet, process.execPath, [file.replace(/\.ts$/, '.js')]);
}

function compile(story: Story, snippet: Snippet, file: string): Promise<string> {
  const tsc = join(projectRoot, 'node_modules/typescript/bin/tsc');
  const options = ['--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', '--lib'];
  const types = ['--typeRoots', join(projectRoot, 'node_modules/@types'), '--types', 'node'];
  return execute(story, snippet, process.execPath, [
    tsc,
    ...options,
    'es2023,esnext.disposable',
    ...types,
    file,
  ]);
}

/** In a process group of its own, so that nothing of a snippet that takes too long outlives it. */
async function execute(story: Story, snippet: Snippet, program: string, args: string[]): Promise<string> {
  const options = { cwd: story.dir, env: environment(story), detached: true };
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  const limit = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), limitMs);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(limit);
  if (code === 0) return stdout;
  throw new Error(`${snippet.at} failed (${code ?? signal}):\n${stdout}${stderr}`);
}

async function startInBackground(story: Story, snippet: Snippet): Promise<ChildProcess> {
  const child = spawn('sh', ['-e', '-c', `exec ${snippet.text.trim()}`], {
    cwd: story.dir,
    env: environment(story),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
  await waitUntil(() => stdout.includes('"ready":true'), `${snippet.at} is ready`, limitMs).catch(
    async (error: unknown) => {
      await stop(child);
      throw error;
    },
  );
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), limitMs);
  await exited;
  clearTimeout(force);
}

function environment({ env, databaseUrl, redisUrl }: Story): NodeJS.ProcessEnv {
  return { ...env, HOLDFAST_DATABASE_URL: databaseUrl, HOLDFAST_REDIS_URL: redisUrl };
}

async function runSql(story: Story, snippet: Snippet): Promise<string> {
  const client = new pg.Client({ connectionString: story.databaseUrl });
  await client.connect();
  try {
    await client.query(snippet.text);
    return '';
  } catch (error) {
    throw new Error(`${snippet.at} failed.`, { cause: error });
  } finally {
    await client.end();
  }
}
