import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Small files that take long: vitest takes the size for the time as long as it has not seen a file run. */
const slow = [
  'src/locks/memory-and-redis.test.ts',
  'src/locks/redis/cluster.test.ts',
  'test/upgrade/',
  'test/faults/',
];

/** Starts those first, so that none of them is the last one that everybody waits for. */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => slow.some((path) => moduleId.includes(path));
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}
