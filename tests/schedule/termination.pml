/* SPDX-License-Identifier: Apache-2.0
 *
 * The protocol that ends a run (docs/termination.md), small: RANKS ranks with a worker each, messages
 * between them that are delayed at will, a budget of tasks that running a task may push, and the
 * watcher of rank 0, which reads one counter after the other while all goes on.
 *
 * Searched: when the watcher says that the run is over, no task exists: none waits, none is being
 * run, none is to come. tests/schedule/check-model runs it, also with each of these mistakes, which
 * the search must find:
 *   DEFECT 1: the watcher reads `created` before `finished`.
 *   DEFECT 2: a task is counted after it was pushed.
 *   DEFECT 3: a task is counted as finished before what it pushes is counted.
 *   DEFECT 4: the watcher says so after two looks at idle workers, without counters.
 *   DEFECT 5: a worker pushes a task that it has counted ahead and taken back.
 *
 * With LIVENESS, and fewer pushes: every run ends in which each rank that can go on does so sometime,
 * and all workers leave. Mistakes that must be found then:
 *   STALL 1: a worker tells what it has finished only when it takes the next task.
 *   STALL 2: the watcher looks at the counters only once.
 *   STALL 3: a worker does not take back what it has counted ahead.
 */
#ifndef DEFECT
#define DEFECT 0
#endif
#ifndef RANKS
#define RANKS 3
#endif
#ifndef BUDGET
#define BUDGET 3
#endif
#ifndef STALL
#define STALL 0
#endif

byte created[RANKS];   /* Written by the rank's worker alone. */
byte finished[RANKS];
byte waiting[RANKS];   /* Tasks in the rings of a rank: visible to its worker. */
byte running;          /* Workers that are in a task. */
byte budget = BUDGET;  /* Pushes that are left to all tasks together. */
bool idle[RANKS];
bool done;
#ifdef LIVENESS
byte gone;             /* Workers that have left. */
ltl ends { <> (gone == RANKS) }
#endif

inline push(me, to) {
#if DEFECT == 2
  waiting[to]++;
  created[me]++;
#else
  if
  :: ahead > 0 -> ahead--
  :: ahead == 0 -> created[me]++
  :: ahead == 0 -> atomic { created[me] = created[me] + 2; ahead = 1 }
  fi;
  waiting[to]++;
#endif
}

proctype worker(byte me) {
  byte uncounted = 0;
  byte ahead = 0;  /* Tasks that are counted and not pushed yet. */
  byte to;
  do
  :: atomic { waiting[me] > 0 && !done -> waiting[me]--; running++; idle[me] = false }
#if DEFECT == 3
     finished[me]++;
#endif
     do
     :: atomic { budget > 0 -> budget--; select(to : 0 .. (RANKS - 1)) }
        push(me, to)
     :: break
     od;
#if DEFECT != 3
     uncounted++;
#endif
     running--;
     /* Finished tasks are told at any time later, and with them what is not to be pushed. */
#if STALL == 1
  :: uncounted > 0 && waiting[me] > 0 && !done -> atomic {
#else
  :: uncounted > 0 && !done -> atomic {
#endif
      finished[me] = finished[me] + uncounted;
      uncounted = 0;
#if STALL == 3
      skip
#else
      finished[me] = finished[me] + ahead;
#if DEFECT == 5
      skip
#else
      ahead = 0
#endif
#endif
    }
  :: waiting[me] == 0 && uncounted == 0 && !idle[me] && !done -> idle[me] = true
  :: done -> break
  od
#ifdef LIVENESS
  ;
  gone++
#endif
}

proctype watcher() {
  byte sum_finished, sum_created, q;
  do
  :: d_step { sum_finished = 0; sum_created = 0; q = 0 }
#if DEFECT == 4
     byte look = 0;
     bool all = true;
     do
     :: look < 2 ->
        q = 0;
        do
        :: q < RANKS -> all = all && idle[q]; q++
        :: else -> break
        od;
        look++
     :: else -> break
     od;
     if
     :: all -> break
     :: else
     fi
#else
#if DEFECT == 1
     do
     :: q < RANKS -> sum_created = sum_created + created[q]; q++
     :: else -> break
     od;
     q = 0;
     do
     :: q < RANKS -> sum_finished = sum_finished + finished[q]; q++
     :: else -> break
     od;
#else
     do
     :: q < RANKS -> sum_finished = sum_finished + finished[q]; q++
     :: else -> break
     od;
     q = 0;
     do
     :: q < RANKS -> sum_created = sum_created + created[q]; q++
     :: else -> break
     od;
#endif
     if
     :: sum_finished == sum_created -> break
#if STALL == 2
     :: else -> false
#else
     :: else
#endif
     fi
#endif
  od;
  byte left = 0;
  d_step {
    q = 0;
    do
    :: q < RANKS -> left = left + waiting[q]; q++
    :: else -> break
    od;
    q = 0
  }
  assert(left == 0 && running == 0);
  done = true
}

init {
  byte i = 0;
  atomic {
    /* The seeds: a barrier stands between them and the run. */
    created[0] = 1;
    waiting[0] = 1;
    do
    :: i < RANKS -> run worker(i); i++
    :: else -> break
    od;
    run watcher()
  }
}
