import { describe, expect, test } from 'vitest';
import { HeartbeatState } from './heartbeat-state.js';

const at = (ms: number): { monotonicMs: number; bootMs: number } => ({ monotonicMs: ms, bootMs: ms });

describe('the state that the heartbeat thread shares', () => {
  test('lets the worker act from the first confirmed beat to its deadline', () => {
    const state = new HeartbeatState();
    expect(state.mayAct(at(0))).toBe(false);
    expect(state.confirm(at(100), at(0))).toBe(true);
    expect(state.mayAct(at(99))).toBe(true);
    expect(state.confirm(at(200), at(99))).toBe(true);
    expect(state.mayAct(at(150))).toBe(true);
    expect(state.mayAct(at(200))).toBe(false);
    expect(state.status).toBe('late');
  });

  test('takes no confirmation after the deadline', () => {
    const state = new HeartbeatState();
    state.confirm(at(100), at(0));
    expect(state.confirm(at(300), at(100))).toBe(false);
    expect(state.mayAct(at(50))).toBe(false);
    expect(state.fenced).toBe(true);
  });

  test('shows both threads what either of them saw', () => {
    const ours = new HeartbeatState();
    const theirs = new HeartbeatState(ours.memory);
    theirs.confirm(at(100), at(0));
    expect(ours.deadline).toEqual(at(100));
    expect(ours.mayAct(at(100))).toBe(false);
    expect(theirs.status).toBe('late');
  });

  test('keeps its first end', () => {
    const state = new HeartbeatState();
    state.end('reaped');
    state.end('stopped');
    expect(state.status).toBe('reaped');
    expect(state.confirm(at(100), at(0))).toBe(false);
  });

  test('knows no deadline where there is none', () => {
    const state = new HeartbeatState();
    expect(state.confirm(null, at(0))).toBe(true);
    expect(state.deadline).toBe(null);
    expect(state.mayAct(at(1e12))).toBe(true);
  });

  test('judges by the earlier deadline while it is being written', () => {
    const state = new HeartbeatState();
    state.confirm({ monotonicMs: 200, bootMs: 100 }, at(0));
    expect(state.mayAct(at(100))).toBe(false);
  });
});
