/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of a worker (include/warren/schedule/loop.hpp), small: RANKS ranks with WORKERS workers each
 * that share their rank's counters, its ring of CAPACITY tasks and its spill; tasks that push tasks to
 * any rank; an idle function that finds work and holds it, and a flush that pushes it later. The first
 * worker of rank 0 decides the end. termination.pml is the protocol without these.
 *
 * An idle function may find something late:
 * any worker may run its idle function after the end was told. So the ranks count once more when all
 * workers have left, and where tasks are left they take the signal back and go on.
 *
 * Searched: when the run is over, no task exists and nothing is held. tests/schedule/check-model runs
 * it, also with each of these mistakes, which the search must find:
 *   DEFECT 1: the ranks believe the signal and do not count once more.
 *   DEFECT 2: a task is counted as finished when it is spilled.
 *
 * With LIVENESS every fair run ends. Mistakes that must be found then:
 *   STALL 1: what a flush counts, in a worker that has not been busy since it last settled, is not
 *            settled.
 *   STALL 2: nobody moves spilled tasks while the ring has others.
 *   STALL 3: the signal stays set where tasks are left.
 */
#ifndef DEFECT
#define DEFECT 0
#endif
#ifndef STALL
#define STALL 0
#endif
#ifndef RANKS
#define RANKS 1
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif
#ifndef BUDGET
#define BUDGET 2
#endif
#define ALL (RANKS * WORKERS)

byte created[RANKS];
byte finished[RANKS];
byte ring[RANKS];      /* Tasks in a rank's ring. */
byte spilled[RANKS];   /* Of tasks for the rank itself: in its spill. */
byte running;          /* Workers that are in a task or have taken one out of a spill. */
byte holding;          /* Workers that hold something. */
byte budget = BUDGET;  /* Pushes that are left to all tasks together. */
byte pot = 1;          /* Things that idle functions can find. */
bool done;
byte gone;             /* Workers that have left. */
byte rounds;           /* Modulo 2. */
bool over;
#ifdef LIVENESS
ltl ends { <> over }
#endif

/* Counted before it can be seen, perhaps one more than is pushed; into the ring, or the spill. */
inline push(me, target) {
  if
  :: ahead > 0 -> ahead--
  :: ahead == 0 -> created[me]++
  :: ahead == 0 -> atomic { created[me] = created[me] + 2; ahead = 1 }
  fi;
  if
  :: atomic { ring[target] < CAPACITY -> ring[target]++ }
  :: atomic { ring[target] >= CAPACITY -> spilled[target]++ }
#if DEFECT == 2
     finished[me]++
#endif
  fi
}

inline settle(me) {
  atomic {
    finished[me] = finished[me] + uncounted + ahead;
    uncounted = 0;
    ahead = 0
  }
}

inline flush(me) {
  push(me, me);
  atomic { holds = false; holding-- }
}

inline watch() {
  d_step { sum_finished = 0; sum_created = 0; q = 0 }
  do
  :: q < RANKS -> sum_finished = sum_finished + finished[q]; q++
  :: else -> break
  od;
  q = 0;
  do
  :: q < RANKS -> sum_created = sum_created + created[q]; q++
  :: else -> break
  od;
  if
  :: sum_finished == sum_created -> done = true
  :: else
  fi
}

proctype worker(byte rank; bool watches) {
  byte uncounted = 0;
  byte ahead = 0;
  bool holds = false;
  bool busy = true;
  byte to, q, sum_finished, sum_created;
  byte round = 0;
  do
  :: over -> break
  :: done && round == rounds && !over ->
     if
     :: holds -> flush(rank)
     :: else
     fi;
     settle(rank);
     busy = true;
     atomic { round = 1 - round; gone++ }
  :: !done && round == rounds ->
     if
     :: atomic { ring[rank] > 0 -> ring[rank]--; running++ }
        do
        :: atomic { budget > 0 -> budget--; select(to : 0 .. (RANKS - 1)) }
           push(rank, to)
        :: break
        od;
        atomic { uncounted++; running--; busy = true }
     :: else ->
        if
        :: holds ->
           flush(rank);
#if STALL != 1
           busy = true
#endif
        :: else ->
           if
#if STALL == 2
           :: atomic { spilled[rank] > 0 && ring[rank] > 0 && ring[rank] < CAPACITY ->
#else
           :: atomic { spilled[rank] > 0 && ring[rank] < CAPACITY ->
#endif
                spilled[rank]--; ring[rank]++ }
           :: else ->
              if
              :: busy ->
                 busy = false;
                 created[rank]++;
                 if
                 :: atomic { pot > 0 -> pot--; holds = true; holding++ }
                 :: true
                 fi;
#if DEFECT != 1 && STALL != 1
                 if
                 :: holds -> flush(rank)
                 :: else
                 fi;
#endif
                 uncounted++;
#if STALL == 1
                 if
                 :: !holds -> settle(rank)
                 :: else
                 fi
#else
                 settle(rank)
#endif
              :: else ->
                 if
                 :: watches -> watch()
                 :: else
                 fi
              fi
           fi
        fi
     fi
  od
}

/* The team's barrier between steps, and what the ranks do there. */
proctype host() {
  byte q, left;
  do
  :: atomic { gone == ALL ->
       q = 0;
       left = 0;
       do
       :: q < RANKS -> left = left + created[q] - finished[q]; q++
       :: else -> break
       od;
       q = 0;
       gone = 0;
       rounds = 1 - rounds;
       if
#if DEFECT == 1
       :: true ->
#else
       :: left == 0 ->
#endif
          do
          :: q < RANKS -> assert(ring[q] == 0 && spilled[q] == 0); q++
          :: else -> break
          od;
          assert(running == 0 && holding == 0);
          over = true;
          break
#if DEFECT != 1
       :: else ->
          left = 0
#if STALL != 3
          ;
          done = false
#endif
#endif
       fi
     }
  od
}

init {
  byte i = 0;
  atomic {
    created[0] = 1;
    ring[0] = 1;
    do
    :: i < ALL -> run worker(i / WORKERS, i == 0); i++
    :: else -> break
    od;
    run host()
  }
}
