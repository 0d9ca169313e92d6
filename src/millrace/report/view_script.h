// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one script of a page, in three parts that stand behind each other in it. The page is whole without it.
//
// It unpacks the timelines' data (timeline_data.h) and draws them on canvases, to be zoomed, moved and asked for
// details with the mouse and from the keyboard, and filters the table of groups. It sets data-scripts of the document
// to "done", or to "plain" where the browser cannot unpack or there is no data.
namespace millrace {

extern const char* const kViewDataScript;     // numbers as people read them; the data
extern const char* const kViewDrawingScript;  // what is shown, and how it is drawn
extern const char* const kViewToolsScript;    // mouse, keyboard, details, table; the beginning

}  // namespace millrace
