/* Phased UCB against Bernoulli rewards and one fixed kernel, step by step: the work of the `step` engine, in C.
 *
 * The same generator, the same buffers of 1024 steps, the same decisions, so on the same seed it must make the same
 * pulls and see the same sums to the last bit; `step.py` checks that before it takes any time. No flag here trades
 * exactness for speed, and nothing is left out but what a general engine pays for: any policy, any reward, any spread.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024 };  /* steps cut at a time */
enum { REWARD = 1 };    /* the stream of rewards */
enum { SEEN, PENDING, GENERATED, FACTS };

static const uint64_t GOLDEN = 0x9E3779B97F4A7C15;

typedef struct {
    int64_t arms, window, horizon, hold;
    double width;                  /* w, the squared radius of a single pull */
    const double *means, *weights; /* one per arm, one per lag */
} Setting;

typedef struct {
    double *rewards; /* CHUNK of them */
    double *future;  /* CHUNK + window: what is still to arrive, from `at` on */
    int64_t at;
    double seen, generated;
} World;

static inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

static uint64_t key_of(uint64_t seed, uint64_t run, uint64_t stream) {
    uint64_t z = mix(seed + GOLDEN);
    z = mix(z + run * GOLDEN);
    return mix(z + stream * GOLDEN);
}

static inline double uniform(uint64_t key, int64_t t) {
    return (double)(int64_t)(mix(key ^ ((uint64_t)t * GOLDEN)) >> 11) * 0x1p-53;
}

static void fill(double mean, uint64_t key, int64_t t0, int64_t n, double *restrict rewards) {
    double edge = 1.0 - mean;
    for (int64_t i = 0; i < n; i++) rewards[i] = uniform(key, t0 + i) >= edge ? 1.0 : 0.0;
}

/* The longer loop is inside, so that it runs in lanes. */
static void scatter(const double *restrict weights, int64_t window, const double *restrict rewards, int64_t n,
                    double *restrict future) {
    if (n >= window) {
        for (int64_t s = 0; s < window; s++)
            for (int64_t i = 0; i < n; i++) future[i + s] += weights[s] * rewards[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            for (int64_t s = 0; s < window; s++) future[i + s] += weights[s] * rewards[i];
    }
}

/* Hold an arm for `steps` steps: the sum of their totals. */
static double play(const Setting *setting, World *world, int64_t arm, uint64_t key, int64_t t, int64_t steps) {
    double seen = 0.0;
    for (int64_t done = 0; done < steps;) {
        if (world->at == CHUNK) {
            memcpy(world->future, world->future + CHUNK, (setting->window - 1) * sizeof(double));
            memset(world->future + CHUNK, 0, (setting->window - 1) * sizeof(double));
            world->at = 0;
        }
        int64_t left = steps - done, room = CHUNK - world->at, n = left < room ? left : room;
        double *ahead = world->future + world->at;
        fill(setting->means[arm], key, t + done, n, world->rewards);
        scatter(setting->weights, setting->window, world->rewards, n, ahead);
        for (int64_t i = 0; i < n; i++) {
            seen += ahead[i];
            ahead[i] = 0.0;
            world->generated += world->rewards[i]; /* a local sum is slower: gcc then packs and unpacks lanes */
        }
        world->at += n;
        done += n;
    }
    world->seen += seen;
    return seen;
}

/* The arm of largest mean plus radius; one never played comes first, a tie goes to the lowest. */
static int64_t best_arm(const Setting *setting, const double *sums, const int64_t *pulls) {
    int64_t best = 0;
    double top = -INFINITY;
    for (int64_t arm = 0; arm < setting->arms; arm++) {
        double n = (double)pulls[arm];
        double index = pulls[arm] ? sums[arm] / n + sqrt(setting->width / n) : INFINITY;
        if (index > top) {
            top = index;
            best = arm;
        }
    }
    return best;
}

static void play_run(const Setting *setting, World *world, uint64_t seed, int64_t run, double *sums, int64_t *pulls) {
    uint64_t key = key_of(seed, (uint64_t)run, REWARD);
    int64_t clock = 0;
    while (clock < setting->horizon) {
        int64_t arm = best_arm(setting, sums, pulls), left = setting->horizon - clock;
        int64_t steps = setting->hold < left ? setting->hold : left;
        sums[arm] += play(setting, world, arm, key, clock, steps);
        pulls[arm] += steps;
        clock += steps;
    }
}

/* `pulls` has a row of arms for each run, `facts` a row of FACTS; both start at zero. */
void phased_ucb(const Setting *setting, uint64_t seed, int64_t runs, int64_t *pulls, double *facts) {
    double *rewards = malloc(CHUNK * sizeof(double));
    double *future = malloc((CHUNK + setting->window) * sizeof(double));
    double *sums = malloc(setting->arms * sizeof(double));
    for (int64_t run = 0; run < runs; run++, pulls += setting->arms, facts += FACTS) {
        World world = {rewards, future, 0, 0.0, 0.0};
        memset(future, 0, (CHUNK + setting->window) * sizeof(double));
        memset(sums, 0, setting->arms * sizeof(double));
        play_run(setting, &world, seed, run, sums, pulls);
        facts[SEEN] = world.seen;
        facts[GENERATED] = world.generated;
        for (int64_t i = 0; i < setting->window - 1; i++) facts[PENDING] += future[world.at + i];
    }
    free(sums);
    free(future);
    free(rewards);
}
