// Loaded into a process before anything else: what it connects to a port of CHAOS_REDIRECT goes to another one. So each
// process has a network of its own to Redis, and all are configured with one address, as they must be.
import { Socket } from 'node:net';

const ports = JSON.parse(process.env.CHAOS_REDIRECT ?? '{}');
const { connect } = Socket.prototype;

Socket.prototype.connect = function redirected(...given) {
  const options = Array.isArray(given[0]) ? given[0][0] : given[0];
  if (options !== null && typeof options === 'object' && ports[options.port] !== undefined) {
    options.port = ports[options.port];
  }
  return connect.apply(this, given);
};
