package dev.millrace.planner.explain;

import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Rewriter;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * What plans that differ only in literals have in common, and the literals. The same on every machine and in every run
 * of one version of Millrace.
 *
 * @param hash 32 hexadecimal digits: half of the SHA-256 of the plan's structure, in which literals count by their type
 *     and column names not at all
 * @param literals in the order in which the plan mentions them, from the root down, each place once
 */
public record Fingerprint(String hash, List<Literal> literals) {
    private static final int BYTES = 16;

    public Fingerprint {
        literals = List.copyOf(literals);
    }

    public static Fingerprint of(PlanNode plan) {
        StructureText text = new StructureText();
        text.add(Rewriter.shared(plan));
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256").digest(text.toString().getBytes(StandardCharsets.UTF_8));
            return new Fingerprint(HexFormat.of().formatHex(Arrays.copyOf(digest, BYTES)), text.literals());
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
