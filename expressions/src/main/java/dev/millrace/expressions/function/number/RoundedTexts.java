package dev.millrace.expressions.function.number;

import dev.millrace.expressions.function.Text;
import dev.millrace.text.TimeStyle.Outputs;
import dev.millrace.text.ValueWriter;

/** Floating-point numbers as texts of fewer digits than they have: casts in a session that says so by {@code extra_float_digits}. */
public final class RoundedTexts {
    private RoundedTexts() {}

    /** @param digits the setting */
    public static void of(double value, int digits, Text out) {
        ValueWriter.float8(out.begin(), value, new Outputs(false, digits));
        out.written();
    }

    /** @param digits the setting */
    public static void ofReal(float value, int digits, Text out) {
        ValueWriter.real(out.begin(), value, new Outputs(false, digits));
        out.written();
    }
}
