import { sharedRedisUrl } from '../../../test/helpers/servers.js';
import { describeLockTable } from '../lock-table.conformance.js';
import { openRedis } from './open-redis.conformance.js';

describeLockTable('redis', (options) => openRedis({ ...options, url: sharedRedisUrl() }));
