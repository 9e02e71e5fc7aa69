package dev.millrace.engine.group;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The members of a group. Who joins is there from the end of an epoch on: no row of that epoch or one before concerns it, all behind do. Who leaves is gone at once for who
 * publishes, and soon for the operator.
 *
 * <p>A number is a slot, and how often that was given away: found without a search, and never the number of another. Safe on any thread.
 */
public final class GroupMembers {
    private static final int FIRST_SLOTS = 16;
    private static final int SLOT_BITS = 32;

    /** One that joins or leaves when an epoch has ended. */
    record Change(Member member, boolean joins, long after) {}

    private volatile AtomicReferenceArray<Member> slots =
            new AtomicReferenceArray<>(FIRST_SLOTS); // replaced under the lock, read by all
    private final ConcurrentLinkedQueue<Change> changes = new ConcurrentLinkedQueue<>();
    private final Set<Member> failing = ConcurrentHashMap.newKeySet(); // rows of an epoch that is not published

    @GuardedBy("this") private final ArrayDeque<Long> free = new ArrayDeque<>(); // numbers that were

    @GuardedBy("this") private int used; // slots

    @GuardedBy("this") private List<DataType> typesOfLiterals = List.of(); // of all members, which are of one form

    private volatile int count; // written under the lock
    private volatile long beganAfter; // written before the operator has rows, read by it
    private final boolean areViews;

    /** @param areViews whether their answers are kept */
    public GroupMembers(boolean areViews) {
        this.areViews = areViews;
    }

    /** The first epoch's rows are behind this one's. */
    public void beginAfter(long epoch) {
        beganAfter = epoch;
    }

    long beganAfter() {
        return beganAfter;
    }

    /**
     * Adds a member that is there behind an epoch, not before those whose epoch is later.
     *
     * @param goesOnWith the name for which it has what the group was restored with, if that is anything
     */
    public synchronized Member add(String name, List<Literal> literals, long after, Optional<String> goesOnWith) {
        long number = free.isEmpty() ? used++ : free.remove() + (1L << SLOT_BITS);
        List<DataType> types = literals.stream().map(Literal::type).toList();
        if (!types.equals(typesOfLiterals)) {
            typesOfLiterals = types;
        }
        Member member = new Member(name, number, PackedLiterals.pack(literals), typesOfLiterals, goesOnWith, areViews);
        if (slot(number) >= slots.length()) {
            AtomicReferenceArray<Member> more = new AtomicReferenceArray<>(2 * slots.length());
            for (int i = 0; i < slots.length(); i++) {
                more.set(i, slots.get(i));
            }
            slots = more;
        }
        slots.set(slot(number), member);
        changes.add(new Change(member, true, after));
        count++;
        return member;
    }

    /** Takes a member out; of no effect for one that is out. */
    public synchronized void remove(Member member) {
        if (find(member.number()) == member) {
            slots.set(slot(member.number()), null);
            free.add(member.number());
            failing.remove(member);
            changes.add(new Change(member, false, Long.MIN_VALUE));
            count--;
        }
    }

    private static int slot(long number) {
        return (int) number;
    }

    /** The member of a number, if it is there still. */
    @Nullable Member find(long number) {
        Member member = slots.get(slot(number));
        return member != null && member.number() == number ? member : null;
    }

    public int count() {
        return count;
    }

    /** Those who join or leave by the end of an epoch, in their order, once each. For the operator. */
    List<Change> take(long ended) {
        List<Change> taken = List.of();
        for (Change next = changes.peek(); next != null && next.after <= ended; next = changes.peek()) {
            taken = taken.isEmpty() ? new ArrayList<>() : taken;
            taken.add(changes.remove());
        }
        return taken;
    }

    /** A member failed, or rows of it did, in an epoch that is at its end. */
    void failed(Member member) {
        failing.add(member);
    }

    /** GroupMembers with rows that failed, and that nobody was told of. */
    Set<Member> failing() {
        return failing;
    }

    /** All that are there. */
    public List<Member> all() {
        List<Member> all = new ArrayList<>(count);
        AtomicReferenceArray<Member> now = slots;
        for (int i = 0; i < now.length(); i++) {
            Member member = now.get(i);
            if (member != null) {
                all.add(member);
            }
        }
        return all;
    }
}
