package dev.millrace.scheduler.simulation;

import dev.millrace.scheduler.assignment.GroupHomes;
import dev.millrace.scheduler.assignment.GroupPart;
import dev.millrace.scheduler.assignment.PartLoad;
import dev.millrace.scheduler.assignment.Rebalancing;
import dev.millrace.scheduler.assignment.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Workers with two-level queues (Pluto, section 3.3.3): each has those of its parts that have events, and each part its events. A part runs until it has
 * none, or for a time; then it is the last again. Events come as a Poisson process, each takes a time that is distributed exponentially, and
 * {@link Rebalancing} moves parts from time to time, if it is to. What came is worked off at the end, so that the same events are processed whatever moved.
 *
 * <p>An event under way is finished where it is; the part that it is of goes on elsewhere when it is, so that events of a member are never out of order.
 * Used once, by one thread.
 */
public final class GroupSimulation {
    private static final long TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private record Event(long arrivalNanos, int member, long number) {}

    /** What waits for a part. */
    private static final class Queue {
        private final GroupPart part;
        private final ArrayDeque<Event> events = new ArrayDeque<>();
        private long freeNanos; // when its event under way ends
        private boolean isActive; // among its worker's, or running there

        Queue(GroupPart part) {
            this.part = part;
        }
    }

    private static final class Worker {
        private final ArrayDeque<Queue> active = new ArrayDeque<>();
        private boolean works; // an event is under way
        private Optional<Queue> running = Optional.empty();
        private long turnEndsNanos;
    }

    /** Something that happens at a time; of equal times the one thought of first is first. */
    private record Happening(long atNanos, long number, Runnable action) {}

    private final GroupSpec spec;
    private final Optional<Rebalancing> rebalancing;
    private final SplittableRandom random; // of what comes, whose order is the same whatever moves
    private final long seed;
    private final List<Worker> workers = new ArrayList<>();
    private final GroupHomes table;
    private final Map<GroupPart, Queue> queues = new HashMap<>();
    private final PriorityQueue<Happening> happenings = new PriorityQueue<>(
            (a, b) -> a.atNanos != b.atNanos ? Long.compare(a.atNanos, b.atNanos) : Long.compare(a.number, b.number));
    private final int[] groupOf; // of each member
    private final double[] eventNanos; // of each group
    private final double[] below; // of each member: events of those up to it
    private final long[] digests; // of each member
    private final double perNano; // events
    private long now;
    private long numbers;
    private long[] latencies = new long[1 << 16];
    private int processed;
    private long arrived;
    private long moves;
    private long splits;
    private long merges;

    /** @param rebalancing none leaves groups where they were placed first */
    public GroupSimulation(int workerCount, GroupSpec spec, Optional<Rebalancing> rebalancing, long seed) {
        this.spec = spec;
        this.rebalancing = rebalancing;
        this.random = new SplittableRandom(seed);
        this.seed = random.nextLong();
        for (int i = 0; i < workerCount; i++) {
            workers.add(new Worker());
        }
        SplittableRandom draws = random.split();
        this.table = new GroupHomes(workerCount, draws::nextInt);
        this.groupOf = new int[spec.members()];
        this.eventNanos = new double[spec.groups()];
        this.below = new double[spec.members()];
        this.digests = new long[spec.members()];
        this.perNano = populate();
    }

    /** Makes the members, one by one; returns how many events come in a nanosecond. */
    private double populate() {
        for (int group = 0; group < spec.groups(); group++) {
            eventNanos[group] = spec.eventNanos() * (.4 + 1.2 * random.nextDouble());
        }
        double[] popular = new double[spec.groups()];
        double groups = 0;
        for (int group = 0; group < spec.groups(); group++) {
            groups += Math.pow(group + 1, -spec.groupExponent());
            popular[group] = groups;
        }
        double events = 0;
        double work = 0;
        for (int member = 0; member < spec.members(); member++) {
            groupOf[member] = member < spec.groups() ? member : drawn(popular);
            double rate = Math.pow(1 + random.nextInt(spec.members()), -spec.memberExponent());
            events += rate;
            below[member] = events;
            work += rate * eventNanos[groupOf[member]];
        }
        double perNano = spec.load() * workers.size() / (work / events);
        double[] placed = new double[workers.size()];
        for (int member = 0; member < spec.members(); member++) {
            int group = groupOf[member];
            table.add(group, placed);
            double rate = perNano * (below[member] - (member == 0 ? 0 : below[member - 1])) / events;
            placed[table.homeOf(group, member)] += rate * eventNanos[group];
        }
        return perNano;
    }

    private int drawn(double[] sums) {
        int found = Arrays.binarySearch(sums, random.nextDouble() * sums[sums.length - 1]);
        return Math.min(sums.length - 1, found < 0 ? -found - 1 : found + 1);
    }

    /** Has events come for so long, and all of them processed. */
    public GroupResult run(long nanos) {
        at(0, () -> arrive(nanos));
        if (rebalancing.isPresent()) {
            at(PERIOD_NANOS, () -> rebalance(rebalancing.get()));
        }
        while (!happenings.isEmpty()) {
            Happening next = happenings.remove();
            now = next.atNanos();
            next.action().run();
        }
        long[] sorted = Arrays.copyOf(latencies, processed);
        Arrays.sort(sorted);
        List<PartLoad> parts = table.parts();
        double greatest =
                Arrays.stream(Rebalancing.loads(workers.size(), parts)).max().orElse(0);
        return new GroupResult(sorted, digest(), moves, splits, merges, parts.size(), greatest);
    }

    private long digest() {
        long digest = 0;
        for (long each : digests) {
            digest = 31 * digest + each;
        }
        return digest;
    }

    private void at(long nanos, Runnable action) {
        happenings.add(new Happening(nanos, numbers++, action));
    }

    private void arrive(long untilNanos) {
        long next = now + (long) (-Math.log(1 - random.nextDouble()) / perNano);
        if (next > untilNanos) {
            return;
        }
        at(next, () -> {
            int member = drawn(below);
            Queue queue = queueOf(table.partOf(groupOf[member], member));
            queue.events.add(new Event(now, member, arrived++));
            table.meter(queue.part).arrived(1);
            activate(queue);
            arrive(untilNanos);
        });
    }

    private Queue queueOf(GroupPart part) {
        return queues.computeIfAbsent(part, Queue::new);
    }

    private Worker homeOf(Queue queue) {
        return workers.get(table.homeOf(queue.part).orElseThrow());
    }

    private void activate(Queue queue) {
        if (queue.isActive || queue.events.isEmpty()) {
            return;
        }
        queue.isActive = true;
        if (queue.freeNanos > now) { // its last event is under way where it was before
            at(queue.freeNanos, () -> {
                queue.isActive = false;
                if (queues.get(queue.part) == queue) {
                    activate(queue);
                }
            });
            return;
        }
        Worker worker = homeOf(queue);
        worker.active.add(queue);
        if (!worker.works) {
            goOn(worker);
        }
    }

    /** A worker with no event under way takes the next. */
    private void goOn(Worker worker) {
        Queue queue = worker.running.orElse(null);
        if (queue != null && (queue.events.isEmpty() || now >= worker.turnEndsNanos)) {
            queue.isActive = !queue.events.isEmpty();
            if (queue.isActive) {
                worker.active.add(queue); // preempted: the last again
            }
            worker.running = Optional.empty();
            queue = null;
        }
        if (queue == null) {
            queue = worker.active.poll();
            if (queue == null) {
                return;
            }
            worker.running = Optional.of(queue);
            worker.turnEndsNanos = now + TIMEOUT_NANOS;
        }
        process(worker, queue, queue.events.remove());
    }

    private void process(Worker worker, Queue queue, Event event) {
        double mean = eventNanos[groupOf[event.member()]];
        double drawn =
                new SplittableRandom(seed + event.number()).nextDouble(); // the event's own, wherever it is processed
        long nanos = 1 + (long) (-Math.log(1 - drawn) * mean);
        worker.works = true;
        queue.freeNanos = now + nanos;
        at(now + nanos, () -> {
            worker.works = false;
            table.homeOf(queue.part).ifPresent(home -> table.meter(queue.part).processed(1, nanos));
            digests[event.member()] = 31 * digests[event.member()] + event.number() + 1;
            if (processed == latencies.length) {
                latencies = Arrays.copyOf(latencies, 2 * processed);
            }
            latencies[processed++] = now - event.arrivalNanos();
            goOn(worker);
        });
    }

    private void rebalance(Rebalancing by) {
        table.endPeriod(PERIOD_NANOS);
        for (Step step : by.steps(workers.size(), table.parts())) {
            carryOut(step);
        }
        if (arrived > processed || !happenings.isEmpty()) {
            at(now + PERIOD_NANOS, () -> rebalance(by));
        }
    }

    private void carryOut(Step step) {
        List<GroupPart> parts = step instanceof Step.Merge merge
                ? List.of(merge.part().half(0), merge.part().half(1))
                : List.of(step.part());
        if (parts.stream().anyMatch(part -> table.homeOf(part).isEmpty())) {
            return;
        }
        List<Queue> before = parts.stream().map(this::takeOut).toList();
        if (!table.apply(step)) {
            throw new IllegalStateException("not carried out: " + step);
        }
        moves += step instanceof Step.Move ? 1 : 0;
        splits += step instanceof Step.Split ? 1 : 0;
        merges += step instanceof Step.Merge ? 1 : 0;
        List<GroupPart> after = step instanceof Step.Split split
                ? List.of(split.part().half(0), split.part().half(1))
                : List.of(step.part());
        for (GroupPart part : after) {
            Queue queue = queueOf(part);
            before.forEach(each -> queue.freeNanos = Math.max(queue.freeNanos, each.freeNanos));
            before.stream()
                    .flatMap(each -> each.events.stream())
                    .filter(event -> part.contains(GroupPart.hash(event.member())))
                    .sorted((a, b) -> Long.compare(a.number(), b.number()))
                    .forEach(queue.events::add);
            activate(queue);
        }
    }

    /** Its worker has it no more; an event under way ends there. */
    private Queue takeOut(GroupPart part) {
        Queue queue = queueOf(part);
        Worker worker = homeOf(queue);
        worker.active.remove(queue);
        if (worker.running.filter(running -> running == queue).isPresent()) {
            worker.running = Optional.empty();
        }
        queues.remove(part);
        return queue;
    }
}
