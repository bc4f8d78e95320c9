export function beatText(namespace: string): string {
  return `UPDATE "${namespace}".workers SET counter = counter + 1, last_heartbeat = now() WHERE incarnation = $1 AND reaped_at IS NULL`;
}
