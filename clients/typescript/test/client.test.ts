/** Against a real service: AFTERGLOW_ADDRESS and AFTERGLOW_TOKEN name it, AFTERGLOW_EXPERIMENT a manual experiment. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { AfterglowError, Client, Refusal, Unavailable, Undelivered } from "../src/index.ts";

const address = process.env["AFTERGLOW_ADDRESS"] ?? "";
const token = process.env["AFTERGLOW_TOKEN"] ?? "";
const name = process.env["AFTERGLOW_EXPERIMENT"] ?? "";
const away = "http://127.0.0.1:9"; // nobody listens there

/** A relay to the service that can lose answers, so that rewards are sent again. */
class Relay {
  lose = 0; // answers still to lose, after the service has taken the rewards
  seen: string[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => void this.#pass(request, response));
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const headers: Record<string, string> = {};
    for (const one of ["authorization", "content-type", "if-none-match"]) {
      const value = request.headers[one];
      if (typeof value === "string") headers[one] = value;
    }
    const method = request.method ?? "GET";
    const body = method === "POST" ? Buffer.concat(parts) : null;
    const answer = await fetch(address + request.url, { method, headers, body });
    const text = await answer.text();
    this.seen.push(`${method} ${answer.status}`);
    if (this.lose > 0 && body !== null && body.length > 2) {
      this.lose -= 1;
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(text);
  }
}

const relay = new Relay();
let relayed = "";
before(async () => {
  relayed = await relay.open();
});
after(() => relay.close());

async function step(): Promise<{ step: number; variant: string }> {
  const headers = { authorization: `Bearer ${token}` };
  return (await (await fetch(`${address}/v1/experiments/${name}/current`, { headers })).json()) as never;
}

async function close(total: number | null): Promise<number> {
  const { step: now } = await step();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ total }) };
  const answer = await fetch(`${address}/v1/experiments/${name}/steps/${now}`, init);
  assert.equal(answer.status, 200);
  const rows = await fetch(`${address}/v1/experiments/${name}/steps?limit=1000`, { headers });
  const { items } = (await rows.json()) as { items: { step: number; total: number }[] };
  return items.find((row) => row.step === now)?.total ?? NaN;
}

test("the current variant is that of the service", async () => {
  const experiment = new Client(address, token).experiment(name);
  const decision = await experiment.decision();
  assert.equal(decision.fallback, null);
  assert.equal(decision.variant, (await step()).variant);
  assert.equal(await experiment.current(), decision.variant);
});

test("an answer that has not changed is not sent again", async () => {
  const experiment = new Client(relayed, token).experiment(name);
  await experiment.current();
  relay.seen = [];
  await experiment.current();
  assert.deepEqual(relay.seen, ["GET 304"]); // steps without a schedule are always asked for
});

test("calls at the same time share one request", async () => {
  const experiment = new Client(relayed, token).experiment(name);
  relay.seen = [];
  await Promise.all(Array.from({ length: 20 }, () => experiment.current()));
  assert.equal(relay.seen.length, 1);
});

test("max-age is followed, and the answer is asked for again when it is over", async () => {
  let now = 0;
  const asked: number[] = [];
  const answers = async (): Promise<Response> => {
    asked.push(now);
    const body = { experiment: name, variant: "A", step: 7, role: "plan", valid_until: null };
    return new Response(JSON.stringify(body), { headers: { "cache-control": "private, max-age=60", etag: '"7"' } });
  };
  const experiment = new Client(address, token, { clock: () => now, fetch: answers }).experiment("daily");
  for (now of [0, 30, 59, 61, 100]) await experiment.current();
  assert.deepEqual(asked, [0, 61]);
});

test("the initial variant is served while the service can't be reached, then the last one", async () => {
  const lonely = new Client(away, token).experiment(name, "control");
  const decision = await lonely.decision();
  assert.equal(decision.variant, "control");
  assert.equal(decision.fallback, "default");
  assert.ok(decision.error instanceof Unavailable);
  await assert.rejects(new Client(away, token).experiment(name).current(), Unavailable);
});

test("a wrong token or name is thrown, not served around", async () => {
  const kinds = async (client: Client, experiment: string) => {
    const error: unknown = await client.experiment(experiment, "control").current().catch((one: unknown) => one);
    return error instanceof Refusal ? [error.status, error.kind] : error;
  };
  assert.deepEqual(await kinds(new Client(address, "ag_wrong"), name), [401, "unauthorized"]);
  assert.deepEqual(await kinds(new Client(address, token), "no-such-experiment"), [404, "unknown-experiment"]);
});

test("another address is tried when the first gives no answer", async () => {
  const decision = await new Client([away, address], token).experiment(name).decision();
  assert.equal(decision.fallback, null);
});

test("another address is tried when the first can't serve now", async () => {
  const asked: string[] = [];
  let givenUp = 0; // answers whose connection is free again
  const busy = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    asked.push(new URL(String(url)).host);
    const body = new ReadableStream({
      pull: (sink) => {
        sink.enqueue(new TextEncoder().encode("{}"));
        sink.close();
      },
      cancel: () => {
        givenUp += 1;
      },
    }, { highWaterMark: 0 });
    return String(url).startsWith("http://full") ? new Response(body, { status: 503 }) : fetch(url, init);
  };
  const client = new Client(["http://full", address], token, { fetch: busy, linger: 0 });
  assert.equal((await client.experiment(name).decision()).fallback, null);
  client.experiment(name).reward(0.5);
  await client.close(20);
  assert.deepEqual(asked.filter((host) => host === "full"), ["full"]); // then it keeps to the one that answers
  assert.equal(givenUp, 1);
  assert.equal(await close(null), 0.5);
  const decision = await new Client(["http://full", "http://full"], token, { fetch: busy }).experiment(name, "A").decision();
  assert.equal(decision.fallback, "default");
  assert.equal(givenUp, 2); // all but the last answer, which was read
});

test("what is sent again names its first step, and is refused alone when that step's keys are gone", async () => {
  const sent: { key: string; step?: number }[][] = [];
  const answers = ["lost", "sealed", "sealed", "sealed"]; // then all is taken
  const service = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const rewards = JSON.parse(String(init?.body)) as { key: string; step?: number }[];
    const receipt = { step: 7 + sent.length, accepted: rewards.length, duplicates: 0 };
    if (rewards.length === 0) return new Response(JSON.stringify(receipt), { status: 202 });
    sent.push(rewards);
    const answer = answers.shift() ?? "taken";
    if (answer === "lost") throw new TypeError("connection reset");
    if (answer === "taken") return new Response(JSON.stringify(receipt), { status: 202 });
    return new Response(JSON.stringify({ type: "/problems/sealed", kind: "sealed", detail: "erased" }), { status: 409 });
  };
  const refused: string[] = [];
  const onRefused = (all: readonly { key: string }[]) => refused.push(...all.map((one) => one.key));
  const client = new Client("http://one", token, { fetch: service as typeof fetch, linger: 0, onRefused });
  for (const key of ["a", "b", "c"]) client.experiment("hourly").reward(1, key);
  const failure: unknown = await client.flush(20).catch((error: unknown) => error);
  assert.ok(failure instanceof Undelivered);
  const steps = sent.map((batch) => batch.map(({ key, step = -1 }) => `${key}${step}`).join(" "));
  assert.deepEqual(steps, ["a-1 b-1 c-1", "a7 b7 c7", "a7 b7", "a7", "b7", "c7"]);
  assert.deepEqual(refused, ["a"]);
});

test("rewards count once, though answers are lost", async () => {
  const client = new Client(relayed, token, { linger: 0 });
  const experiment = client.experiment(name);
  relay.lose = 2;
  relay.seen = [];
  for (let i = 0; i < 50; i += 1) experiment.reward(0.25);
  await client.flush(20);
  assert.ok(relay.seen.length >= 3, relay.seen.join());
  assert.equal(client.delivery.delivered, 50);
  assert.equal(client.delivery.duplicates > 0, true);
  await client.close();
  assert.equal(await close(null), 12.5);
  assert.throws(() => experiment.reward(1), AfterglowError);
});

test("a metric that a guard watches has a total of its own", async () => {
  const client = new Client(address, token);
  const experiment = client.experiment(name);
  experiment.reward(0.5, "order");
  experiment.reward(3, "order", "complaints"); // keys of a metric are apart from those of rewards
  await client.close();
  const { step: now } = await step();
  assert.equal(await close(null), 0.5);
  const headers = { authorization: `Bearer ${token}` };
  const rows = await fetch(`${address}/v1/experiments/${name}/steps?limit=1000`, { headers });
  const { items } = (await rows.json()) as { items: { step: number; metrics: Record<string, number> }[] };
  assert.deepEqual(items.find((row) => row.step === now)?.metrics, { complaints: 3 });
});

test("a reward that is refused doesn't take others with it", async () => {
  const refused: string[] = [];
  const client = new Client(address, token, { onRefused: (all) => refused.push(...all.map((one) => one.key)) });
  const experiment = client.experiment(name);
  experiment.reward(0.5);
  experiment.reward(0.5, "x".repeat(5000));
  experiment.reward(0.5);
  const failure: unknown = await client.flush(20).catch((error: unknown) => error);
  assert.ok(failure instanceof Undelivered);
  assert.equal(failure.rewards.length, 1);
  assert.deepEqual(refused, ["x".repeat(5000)]);
  assert.equal(client.delivery.delivered, 2);
  assert.equal(await close(null), 1);
});

test("amounts that are none are refused at once, and a full buffer refuses", async () => {
  const client = new Client(away, token, { buffer: 2 });
  const experiment = client.experiment(name);
  for (const amount of [NaN, -1, Infinity, "1" as never]) assert.throws(() => experiment.reward(amount), AfterglowError);
  experiment.reward(1);
  experiment.reward(1);
  assert.throws(() => experiment.reward(1), Unavailable);
  await assert.rejects(client.close(0.05), Undelivered);
  assert.throws(() => new Client("ftp://x", token), AfterglowError);
  assert.throws(() => new Client(address, "two words"), AfterglowError);
});
