package dev.millrace.sql.bind.type;

import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;

/** Scales of numbers by what their functions were asked for. */
public final class GivenPlaces {
    private GivenPlaces() {}

    /** PostgreSQL shows as many digits as {@code round(x, 2)} was asked for; where the text says how many, the type does. */
    public static RexNode of(String function, RexNode result, List<RexNode> arguments) {
        Optional<String> template = function.equals("to_number")
                ? Coercions.unknownText(arguments.get(1)).or(() -> Literals.textOf(arguments.get(1)))
                : Optional.empty();
        if (template.isPresent()) {
            String[] parts = template.get().toUpperCase(Locale.ROOT).split("[.D]", 2);
            long digits = parts.length < 2
                    ? 0
                    : parts[1].chars().filter(c -> c == '9' || c == '0').count();
            boolean plain = !template.get().toUpperCase(Locale.ROOT).contains("V");
            return plain && digits <= 16 ? Rex.cast(result, DataType.numeric(38, (int) digits)) : result;
        }
        boolean rounds = (function.equals("round") || function.equals("trunc")) && arguments.size() == 2;
        DataType type = rounds ? Coercions.type(result) : DataType.NULL;
        if (type.kind() != DataType.Kind.NUMERIC
                || !(arguments.get(1) instanceof RexLiteral places)
                || places.isNull()) {
            return result;
        }
        int scale = Math.min(type.scale(), Math.max(0, RexLiteral.intValue(places)));
        return Rex.cast(result, DataType.numeric(Math.max(1, type.precision() - type.scale() + scale), scale));
    }
}
