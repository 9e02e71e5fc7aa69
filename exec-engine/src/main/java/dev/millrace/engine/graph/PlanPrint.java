package dev.millrace.engine.graph;

import dev.millrace.plan.node.PlanNode;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * What tells plans apart whose operators cannot go on with each other's state: a hash of all nodes of the graph, each with what
 * it is made of and the numbers of its inputs. The same for the same plan in another process, and for any number of workers.
 */
public final class PlanPrint {
    /** How a query that comes to an end reads, which has no state: prints from before plans had it stay what they were. */
    private static final String OF_READING = "condensation";

    /** Said of few nodes since some version; of all others prints are what they were before. */
    private static final Set<String> ONLY_IF_TRUE = Set.of("byEpoch");

    private PlanPrint() {}

    public static String of(PlanNode plan) {
        return of(plan, UnaryOperator.identity());
    }

    /** The same of a plan that reads relations which have other names by now. @param names these, by what they are called in the plan */
    public static String of(PlanNode plan, UnaryOperator<String> names) {
        MessageDigest digest = sha256();
        for (PlanGraph.Node node : new PlanGraph(plan, 1, scan -> false, true).nodes()) {
            StringBuilder text = new StringBuilder();
            text.append(node.id()).append(' ');
            append(text, node.plan(), names);
            node.inputs().forEach(input -> text.append(" #").append(input.id()));
            digest.update(text.append('\n').toString().getBytes(StandardCharsets.UTF_8));
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /** The same of one node and the types that it reads: whose state another node of the same hash can go on with. */
    public static long ofNode(PlanNode node) {
        StringBuilder text = new StringBuilder();
        append(text, node, UnaryOperator.identity());
        node.inputs().forEach(input -> text.append(' ').append(input.schema().types()));
        byte[] hash = sha256().digest(text.toString().getBytes(StandardCharsets.UTF_8));
        return ByteBuffer.wrap(hash).getLong();
    }

    private static void append(StringBuilder text, PlanNode node, UnaryOperator<String> names) {
        text.append(node.getClass().getSimpleName());
        for (RecordComponent component : node.getClass().getRecordComponents()) {
            Object value = value(component, node);
            boolean isInput = value instanceof PlanNode
                    || value instanceof List<?> list && list.stream().anyMatch(PlanNode.class::isInstance);
            boolean isAsBefore = ONLY_IF_TRUE.contains(component.getName()) && Boolean.FALSE.equals(value);
            if (!isInput && !isAsBefore && !component.getName().equals(OF_READING)) {
                text.append(' ')
                        .append(component.getName())
                        .append('=')
                        .append(isNameOfScan(node, component) ? names.apply((String) value) : value);
            }
        }
    }

    private static boolean isNameOfScan(PlanNode node, RecordComponent component) {
        return node instanceof PlanNode.Scan && component.getName().equals("relation");
    }

    private static Object value(RecordComponent component, PlanNode node) {
        try {
            return component.getAccessor().invoke(node);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError("the accessors of plan nodes are public", e);
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has it", e);
        }
    }
}
