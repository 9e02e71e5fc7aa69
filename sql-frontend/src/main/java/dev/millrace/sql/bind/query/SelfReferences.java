package dev.millrace.sql.bind.query;

import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;
import org.apache.calcite.sql.util.SqlBasicVisitor;
import org.jspecify.annotations.Nullable;

/** How often a query of WITH reads itself, which RECURSIVE only allows: a name in FROM, where no WITH within means another by it. */
final class SelfReferences extends SqlBasicVisitor<Void> {
    private final String name;
    private int found;

    private SelfReferences(String name) {
        this.name = name;
    }

    static boolean reads(SqlNode query, String name) {
        return count(query, name) > 0;
    }

    static int count(SqlNode query, String name) {
        SelfReferences references = new SelfReferences(name);
        query.accept(references);
        return references.found;
    }

    @Override
    public Void visit(SqlCall call) {
        if (call instanceof SqlWith with) {
            with(with);
        } else if (call instanceof SqlSelect select) {
            from(select.getFrom());
            for (int i = 0; i < select.operandCount(); i++) {
                SqlNode operand = select.operand(i);
                if (operand != null && operand != select.getFrom()) {
                    operand.accept(this);
                }
            }
        } else if (call.getKind() == SqlKind.EXPLICIT_TABLE) {
            from(call.operand(0));
        } else {
            super.visit(call);
        }
        return null;
    }

    /** What a WITH names is meant by the name behind it, and in a recursive one in itself. */
    private void with(SqlWith with) {
        for (SqlNode node : with.withList) {
            SqlWithItem item = (SqlWithItem) node;
            boolean hides = item.name.getSimple().equals(name);
            boolean recursive = item.recursive != null && item.recursive.booleanValue();
            if (!hides || !recursive) {
                item.query.accept(this);
            }
            if (hides) {
                return;
            }
        }
        with.body.accept(this);
    }

    private void from(@Nullable SqlNode node) {
        if (node instanceof SqlIdentifier relation) {
            found += relation.isSimple() && relation.getSimple().equals(name) ? 1 : 0;
        } else if (node instanceof SqlJoin join) {
            from(join.getLeft());
            from(join.getRight());
            if (join.getCondition() != null) {
                join.getCondition().accept(this);
            }
        } else if (node instanceof SqlBasicCall call && call.getKind() == SqlKind.AS) {
            from(call.operand(0));
        } else if (node != null) {
            node.accept(this);
        }
    }
}
