// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/formats/onnx_draft.h"

// Constant folding: nodes that make weights or compute shapes out of constants become constants themselves.
namespace millrace {

// One pass in node order. Folded values get their constant and lose their producer; the nodes stay until DropDead.
// A node that makes an output of the model is never folded. Filled constants stay filled, so half a gigabyte of them
// costs nothing; element-wise arithmetic is done on small constants only. Returns how many values were folded. Throws
// InvalidInput where a folded node's inputs contradict each other (a negative size, say).
int FoldConstants(OnnxDraft& draft);

}  // namespace millrace
